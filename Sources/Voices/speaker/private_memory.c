// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "private_memory.h"

#include <sys/mman.h>

void *private_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (madvise(memory, size, MADV_DONTFORK) == 0) return memory;
  munmap(memory, size);
  return NULL;
}
