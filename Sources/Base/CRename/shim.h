// SPDX-License-Identifier: Apache-2.0

// The C library has these calls, but declares them only for programs compiled with _GNU_SOURCE. Swift's module of the C
// library is compiled without it. See renameat2(2), whose flag 2 is RENAME_EXCHANGE, and sync_file_range(2), whose flag
// 2 is SYNC_FILE_RANGE_WRITE.
#if defined(__linux__)
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
int sync_file_range(int file, long long offset, long long count, unsigned int flags);
#endif
