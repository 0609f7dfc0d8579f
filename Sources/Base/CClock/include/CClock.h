// SPDX-License-Identifier: Apache-2.0

#ifndef CCLOCK_H
#define CCLOCK_H

// This header includes no header of the system. With <sys/timex.h>, this module would also define `struct timeval`, and
// whether Swift finds that type here or in Glibc would depend on the order in which the modules are built.

/// Whether the kernel says that its clock is kept right: 1 if it is, 0 if it is not, and -1 if it does not tell.
int clock_is_synchronized(void);

#endif
