// SPDX-License-Identifier: Apache-2.0

// The C library has this call, but declares it only for programs compiled with _GNU_SOURCE. Swift's module of the C
// library is compiled without it. See memfd_create(2). This header includes no other, so that no type of the system is
// defined in two modules.
#if defined(__linux__)
int memfd_create(const char *name, unsigned int flags);

// From <linux/memfd.h> and <linux/fcntl.h>.
static const unsigned int memory_file_close_on_exec = 1;
static const unsigned int memory_file_allow_sealing = 2;
static const int memory_file_add_seals = 1033;
// No more seals, no shorter or longer file, no other bytes.
static const int memory_file_all_seals = 1 | 2 | 4 | 8;
#endif
