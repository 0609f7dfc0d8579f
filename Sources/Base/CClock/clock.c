// SPDX-License-Identifier: Apache-2.0

#include "CClock.h"

#if defined(__linux__)
#include <string.h>
#include <sys/timex.h>

int clock_is_synchronized(void) {
  struct timex state;
  // Without modes, the call only reads (adjtimex(2)).
  memset(&state, 0, sizeof state);
  int result = adjtimex(&state);
  if (result < 0) return -1;
  return result != TIME_ERROR;
}
#else
int clock_is_synchronized(void) { return -1; }
#endif
