// SPDX-License-Identifier: Apache-2.0

#ifndef CLINUX_H
#define CLINUX_H

// This header includes no header of the system. With <sys/timex.h>, this module would also define `struct timeval`, and
// whether Swift finds that type here or in Glibc would depend on the order in which the modules are built.

/// Whether the kernel says that its clock is kept right: 1 if it is, 0 if it is not, and -1 if it does not tell.
int clock_is_synchronized(void);

#if defined(__linux__)

// The C library has these two calls, but declares them only for programs compiled with _GNU_SOURCE. Swift's module of the
// C library is compiled without it. See renameat2(2), whose flag 2 is RENAME_EXCHANGE, and sync_file_range(2), whose flag
// 2 is SYNC_FILE_RANGE_WRITE.
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
int sync_file_range(int file, long long offset, long long count, unsigned int flags);

/// Tells `malloc` from which size in bytes it requests memory from the system for one allocation, from how many unused
/// bytes it returns memory, and how many arenas it may have (mallopt(3)).
void set_malloc_limits(int mapped_bytes, int unused_bytes, int arenas);

#endif

#endif
