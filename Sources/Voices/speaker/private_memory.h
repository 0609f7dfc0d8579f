// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory that only the speaker has. It holds requests and results, and no forked process inherits it.

#ifndef SPEAKER_PRIVATE_MEMORY_H
#define SPEAKER_PRIVATE_MEMORY_H

#include <stddef.h>

/// Returns zeroed memory that a fork does not copy; its addresses are invalid in the new process. The memory is never
/// released. Returns NULL when the kernel has none.
void *private_memory(size_t size);

#endif
