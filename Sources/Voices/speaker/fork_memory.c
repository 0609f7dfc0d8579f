// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "fork_memory.h"

#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK_BYTES = 56 * 1024 };  // The measured depth for ordinary sentences.

static const char engine_library[] = "libespeak-ng.so";
static const char *const used_libraries[] = {engine_library, "libc.so", "libm.so", "libsonic.so", "libpcaudio.so",
                                             "ld-linux", "linux-vdso"};

static struct pages {
  uintptr_t begin, end;
} engine_variables;

/// The pages of a loaded segment.
static struct pages pages_of(const struct dl_phdr_info *library, const ElfW(Phdr) *segment) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = library->dlpi_addr + segment->p_vaddr;
  return (struct pages){begin & ~(page - 1), (begin + segment->p_memsz + page - 1) & ~(page - 1)};
}

static bool is_used(const char *name) {
  if (name[0] == 0) return true;  // The program itself.
  for (size_t index = 0; index < sizeof used_libraries / sizeof used_libraries[0]; index++) {
    if (strstr(name, used_libraries[index]) != NULL) return true;
  }
  return false;
}

static int visit(struct dl_phdr_info *library, size_t size, void *leave_out) {
  (void)size;
  bool used = is_used(library->dlpi_name), engine = strstr(library->dlpi_name, engine_library) != NULL;
  struct pages read_only_after_start = {0, 0};
  for (int index = 0; index < library->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[index];
    struct pages pages = pages_of(library, segment);
    if (segment->p_type == PT_GNU_RELRO) read_only_after_start = pages;
    if (segment->p_type != PT_LOAD) continue;
    if (engine && (segment->p_flags & PF_W) != 0) engine_variables = pages;
    if (!used) {
      madvise((void *)pages.begin, pages.end - pages.begin, *(bool *)leave_out ? MADV_DONTFORK : MADV_DOFORK);
    }
  }
  if (engine && read_only_after_start.end > engine_variables.begin) engine_variables.begin = read_only_after_start.end;
  return 0;
}

void fork_memory_leave_out_libraries(bool leave_out) { dl_iterate_phdr(visit, &leave_out); }

void fork_memory_touch(void *shared, size_t size) {
  // On Arm, pages may have 16 or 64 KiB, and the memory may begin in the middle of one.
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)shared & ~(page - 1);
  madvise((void *)begin, (uintptr_t)shared - begin + size, MADV_POPULATE_WRITE);
  madvise((void *)engine_variables.begin, engine_variables.end - engine_variables.begin, MADV_POPULATE_WRITE);
  volatile char stack[STACK_BYTES];
  for (size_t offset = 0; offset < sizeof stack; offset += 4096) stack[offset] = 0;
}
