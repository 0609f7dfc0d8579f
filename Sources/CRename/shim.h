// SPDX-License-Identifier: Apache-2.0

// The C library has this call, but declares it only for programs compiled with _GNU_SOURCE. Swift's module of the C
// library is compiled without it. See renameat2(2); the flag 2 is RENAME_EXCHANGE.
#if defined(__linux__)
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
#endif
