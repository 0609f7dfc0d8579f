// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)
#include <sys/timex.h>  // For adjtimex, which Swift's Glibc module does not contain.
#endif
