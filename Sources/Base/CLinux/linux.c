// SPDX-License-Identifier: Apache-2.0

#include "CLinux.h"

#if defined(__linux__)
#include <malloc.h>
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

void set_malloc_limits(int mapped_bytes, int unused_bytes, int arenas) {
#if defined(M_ARENA_MAX)
  mallopt(M_MMAP_THRESHOLD, mapped_bytes);
  mallopt(M_TRIM_THRESHOLD, unused_bytes);
  mallopt(M_ARENA_MAX, arenas);
#else
  // musl's malloc does not have these limits.
  (void)mapped_bytes, (void)unused_bytes, (void)arenas;
#endif
}
#else
int clock_is_synchronized(void) { return -1; }
#endif
