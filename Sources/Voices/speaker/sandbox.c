// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// The filter as read back from libseccomp. Every child installs it, and building it each time would dominate the cost.
static struct sock_filter instructions[1024];
static struct sock_fprog program = {.filter = instructions};

/// Every system call that is not listed ends the process, with one exception. Before abort(), the C library writes its
/// reason to standard error and sends a signal to its own process. These calls are refused with an error instead. The
/// signal cannot be permitted, because a filter cannot know the process's own number. abort() then ends the process by
/// an instruction that is not permitted, which raises SIGSEGV on x86-64 and SIGTRAP on Arm.
static bool add_rules(scmp_filter_ctx filter) {
  const int allowed[] = {
      SCMP_SYS(exit_group), SCMP_SYS(exit),   SCMP_SYS(restart_syscall), SCMP_SYS(brk),
      SCMP_SYS(munmap),     SCMP_SYS(mremap), SCMP_SYS(rt_sigaction),    SCMP_SYS(rt_sigprocmask),
      SCMP_SYS(getpid),     SCMP_SYS(gettid),
  };
  bool added = true;
  for (size_t index = 0; index < sizeof allowed / sizeof allowed[0]; index++) {
    added = added && seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[index], 0) == 0;
  }
  const struct scmp_arg_cmp request = SCMP_A0(SCMP_CMP_EQ, REQUEST_DESCRIPTOR, 0);
  const struct scmp_arg_cmp done = SCMP_A0(SCMP_CMP_EQ, DONE_DESCRIPTOR, 0);
  const struct scmp_arg_cmp not_done = SCMP_A0(SCMP_CMP_NE, DONE_DESCRIPTOR, 0);
  // This permits malloc()'s large blocks: private anonymous memory that is not executable.
  const struct scmp_arg_cmp no_program = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  const struct scmp_arg_cmp own =
      SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_TYPE | MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS);
  return added && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(read), 1, request) == 0 &&
         seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, done) == 0 &&
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(write), 1, not_done) == 0 &&
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(writev), 0) == 0 &&
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 0) == 0 &&
         seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, no_program, own) == 0;
}

/// libseccomp can write the finished filter only to a descriptor.
static bool export_filter(scmp_filter_ctx filter) {
  int memory = memfd_create("filter", MFD_CLOEXEC);
  if (memory < 0) return false;
  ssize_t size = seccomp_export_bpf(filter, memory) == 0 ? pread(memory, instructions, sizeof instructions, 0) : -1;
  close(memory);
  if (size <= 0 || (size_t)size == sizeof instructions) return false;
  program.len = (unsigned short)((size_t)size / sizeof instructions[0]);
  return true;
}

bool sandbox_prepare(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (filter == NULL) return false;
  bool prepared = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
                  add_rules(filter) && export_filter(filter);
  seccomp_release(filter);
  return prepared;
}

static bool limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard) {
  struct rlimit present;
  if (getrlimit(resource, &present) != 0) return false;
  if (hard > present.rlim_max) hard = present.rlim_max;
  if (soft > hard) soft = hard;
  return setrlimit(resource, &(struct rlimit){soft, hard}) == 0;
}

static rlim_t address_space_in_use(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) return 0;
  unsigned long pages = 0;
  if (fscanf(file, "%lu", &pages) != 1) pages = 0;
  fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

bool sandbox_limit_inherited(void) {
  rlim_t present = address_space_in_use();
  if (present == 0) return false;
  rlim_t memory = present + (rlim_t)MEMORY_LIMIT_MEGABYTES * 1024 * 1024;
  return limit(RLIMIT_AS, memory, memory) && limit(RLIMIT_FSIZE, 0, 0) && limit(RLIMIT_CORE, 0, 0) &&
         limit(RLIMIT_NOFILE, VOICE_DESCRIPTORS, VOICE_DESCRIPTORS);
}

bool sandbox_enter(void) {
  // SIGXCPU after the soft limit distinguishes this end from any other.
  struct rlimit cpu = {CPU_LIMIT_SECONDS, CPU_LIMIT_SECONDS + 1}, none = {0, 0};
  return setrlimit(RLIMIT_CPU, &cpu) == 0 && setrlimit(RLIMIT_NPROC, &none) == 0 &&
         setrlimit(RLIMIT_NOFILE, &none) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
