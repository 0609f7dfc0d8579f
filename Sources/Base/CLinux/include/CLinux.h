// SPDX-License-Identifier: Apache-2.0

#ifndef CLINUX_H
#define CLINUX_H

// This header includes no system header. If it included <sys/timex.h>, this module would also define `struct timeval`.
// Swift could then find that type here or in Glibc, depending on the order in which the modules are built.

/// Returns whether the kernel reports that its clock is synchronized: 1 if it is, 0 if it is not, and -1 if this is not
/// known.
int clock_is_synchronized(void);

#if defined(__linux__)

// The C library has these two calls, but declares them only for programs compiled with _GNU_SOURCE. Swift's module of
// the C library is compiled without _GNU_SOURCE. See renameat2(2), whose flag 2 is RENAME_EXCHANGE, and
// sync_file_range(2), whose flag 2 is SYNC_FILE_RANGE_WRITE.
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
int sync_file_range(int file, long long offset, long long count, unsigned int flags);

/// Sets limits of `malloc` (mallopt(3)): the size in bytes from which an allocation gets its own memory from the
/// system, the number of unused bytes from which memory is returned to the system, and the number of arenas.
void set_malloc_limits(int mapped_bytes, int unused_bytes, int arenas);

#endif

#endif
