// SPDX-License-Identifier: Apache-2.0

// The C library has this call, but shows it only to programs compiled with _GNU_SOURCE, which Swift's module of the C
// library is not. See renameat2(2); 2 is RENAME_EXCHANGE.
#if defined(__linux__)
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
#endif
