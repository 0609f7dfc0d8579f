// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls that qemu-user lacks, for a speaker that is linked with this file: seccomp filters, which it refuses, and in
// older versions close_range(). A speaker with this file is not confined. It shows only that its sound is right.

#define _GNU_SOURCE
#include <errno.h>
#include <seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void prepare(void) { seccomp_api_set(3); }

__attribute__((visibility("default"))) int prctl(int option, ...) {
  if (option == PR_SET_SECCOMP) return 0;
  unsigned long values[4];
  va_list list;
  va_start(list, option);
  for (int index = 0; index < 4; index++) values[index] = va_arg(list, unsigned long);
  va_end(list);
  return (int)syscall(SYS_prctl, option, values[0], values[1], values[2], values[3]);
}

__attribute__((visibility("default"))) int close_range(unsigned int first, unsigned int last, int flags) {
  (void)flags;
  if (syscall(SYS_close_range, first, last, flags) == 0) return 0;
  if (errno != ENOSYS) return -1;
  for (unsigned int descriptor = first; descriptor <= last && descriptor < 1024; descriptor++) close((int)descriptor);
  return 0;
}
