// SPDX-License-Identifier: GPL-3.0-or-later
//
// Prints what the speaker's system-call filter says to each system call of the architecture that this program is
// compiled for. It runs the filter's instructions as the kernel would. The names and verdicts must be those in
// filter.txt on every architecture, whatever the calls' numbers are.

#include "../../Sources/Voices/speaker/sandbox.c"

#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1024 };  // The highest number of a system call is far below.

_Noreturn static void fail(const char *message) {
  fflush(stdout);
  fprintf(stderr, "filter: %s\n", message);
  exit(1);
}

/// Runs the filter on one system call (see the kernel's Documentation/networking/filter.rst). Only the instructions that
/// libseccomp writes are known here.
static uint32_t verdict(uint32_t architecture, uint32_t number, const uint64_t arguments[6]) {
  struct seccomp_data data = {.nr = (int)number, .arch = architecture};
  memcpy(data.args, arguments, sizeof data.args);
  uint32_t accumulator = 0;
  for (size_t index = 0; index < program.len;) {
    const struct sock_filter *step = &instructions[index++];
    bool holds = false;
    switch (step->code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step->k % 4 != 0 || step->k + 4 > sizeof data) fail("the filter reads outside of the call");
        memcpy(&accumulator, (const char *)&data + step->k, sizeof accumulator);
        continue;
      case BPF_ALU | BPF_AND | BPF_K: accumulator &= step->k; continue;
      case BPF_RET | BPF_K: return step->k;
      case BPF_JMP | BPF_JA: index += step->k; continue;
      case BPF_JMP | BPF_JEQ | BPF_K: holds = accumulator == step->k; break;
      case BPF_JMP | BPF_JGT | BPF_K: holds = accumulator > step->k; break;
      case BPF_JMP | BPF_JGE | BPF_K: holds = accumulator >= step->k; break;
      case BPF_JMP | BPF_JSET | BPF_K: holds = (accumulator & step->k) != 0; break;
      default: fail("the filter has an instruction that is not known here");
    }
    index += holds ? step->jt : step->jf;
  }
  fail("the filter has no end");
}

static const char *name_of(uint32_t verdict) {
  switch (verdict) {
    case SECCOMP_RET_KILL_PROCESS: return "killed";
    case SECCOMP_RET_ALLOW: return "allowed";
    case SECCOMP_RET_ERRNO | EPERM: return "EPERM";
    default: return "another verdict";
  }
}

/// The values of the arguments that rules compare. Numbers above 32 bits show that the whole argument is compared.
static const uint64_t descriptors[] = {0, 1, 2, REQUEST_DESCRIPTOR, DONE_DESCRIPTOR, 5, 1ull << 32 | REQUEST_DESCRIPTOR,
                                       1ull << 32 | DONE_DESCRIPTOR, UINT64_MAX};
static const uint64_t protections[] = {PROT_NONE, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC,
                                       PROT_READ | PROT_WRITE | PROT_EXEC, 1ull << 32 | PROT_EXEC};
static const uint64_t mappings[] = {MAP_PRIVATE | MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                    MAP_SHARED | MAP_ANONYMOUS, MAP_PRIVATE, MAP_SHARED, 0};

static void print_by_argument(const char *name, const char *what, uint32_t architecture, uint32_t number, int argument,
                              const uint64_t *values, size_t count) {
  for (size_t index = 0; index < count; index++) {
    uint64_t arguments[6] = {0};
    arguments[argument] = values[index];
    printf("%s, %s %#llx: %s\n", name, what, (unsigned long long)values[index],
           name_of(verdict(architecture, number, arguments)));
  }
}

/// Returns whether all arguments give the same verdict.
static bool is_constant(uint32_t architecture, uint32_t number, uint32_t *constant) {
  *constant = verdict(architecture, number, (uint64_t[6]){0});
  for (size_t first = 0; first < sizeof descriptors / sizeof descriptors[0]; first++) {
    for (size_t second = 0; second < sizeof protections / sizeof protections[0]; second++) {
      for (size_t third = 0; third < sizeof mappings / sizeof mappings[0]; third++) {
        uint64_t arguments[6] = {descriptors[first], 0, protections[second], mappings[third]};
        if (verdict(architecture, number, arguments) != *constant) return false;
      }
    }
  }
  return true;
}

static void print_call(const char *name, uint32_t architecture, uint32_t number) {
  uint32_t constant;
  if (is_constant(architecture, number, &constant)) {
    if (constant != SECCOMP_RET_KILL_PROCESS) printf("%s: %s\n", name, name_of(constant));
    return;
  }
  if (strcmp(name, "mmap") != 0) {
    print_by_argument(name, "descriptor", architecture, number, 0, descriptors, sizeof descriptors / sizeof descriptors[0]);
    return;
  }
  for (size_t protection = 0; protection < sizeof protections / sizeof protections[0]; protection++) {
    for (size_t mapping = 0; mapping < sizeof mappings / sizeof mappings[0]; mapping++) {
      uint64_t arguments[6] = {0, 0, protections[protection], mappings[mapping]};
      printf("mmap, protection %#llx, flags %#llx: %s\n", (unsigned long long)arguments[2],
             (unsigned long long)arguments[3], name_of(verdict(architecture, number, arguments)));
    }
  }
}

int main(int count, char **arguments) {
  // An emulator may have no seccomp(2), which libseccomp asks what the kernel can do. Here, it only writes the filter.
  if (seccomp_api_set(3) != 0 || !sandbox_prepare()) fail("no filter could be made");
  uint32_t native = seccomp_arch_native();
  bool found[NUMBERS] = {false};
  char *names[NUMBERS] = {NULL};
  int known = 0;
  for (uint32_t number = 0; number < NUMBERS; number++) {
    names[number] = seccomp_syscall_resolve_num_arch(native, (int)number);
    known += names[number] != NULL;
    // Numbers without a name, those of the x32 interface, and negative ones.
    const uint32_t others[] = {0x40000000u | number, 0x80000000u | number};
    uint32_t constant;
    for (int index = 0; index < 2; index++) {
      if (!is_constant(native, others[index], &constant) || constant != SECCOMP_RET_KILL_PROCESS) {
        fail("a number that is no system call is not killed");
      }
    }
    if (names[number] == NULL && (!is_constant(native, number, &constant) || constant != SECCOMP_RET_KILL_PROCESS)) {
      fail("a number without a name is not killed");
    }
  }
  // In the order of names, which is the same on every architecture.
  for (;;) {
    int next = -1;
    for (int number = 0; number < NUMBERS; number++) {
      if (names[number] == NULL || found[number]) continue;
      if (next < 0 || strcmp(names[number], names[next]) < 0) next = number;
    }
    if (next < 0) break;
    found[next] = true;
    print_call(names[next], native, (uint32_t)next);
  }
  const uint32_t architectures[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM,
                                    AUDIT_ARCH_RISCV64};
  for (size_t index = 0; index < sizeof architectures / sizeof architectures[0]; index++) {
    uint32_t constant;
    for (uint32_t number = 0; number < NUMBERS && architectures[index] != native; number++) {
      if (!is_constant(architectures[index], number, &constant) || constant != SECCOMP_RET_KILL_PROCESS) {
        fail("a system call of another architecture is not killed");
      }
    }
  }
  printf("all others, and all of other architectures: killed\n");
  if (count > 1) {
    fprintf(stderr, "%s: %d system calls, %d instructions\n", arguments[1], known, program.len);
  }
  return 0;
}
