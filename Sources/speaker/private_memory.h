// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory of the speaker alone: requests and results lie in it, and no process that the speaker forks inherits it.

#ifndef SPEAKER_PRIVATE_MEMORY_H
#define SPEAKER_PRIVATE_MEMORY_H

#include <stddef.h>

/// Memory filled with zeros that a fork does not copy: in the new process its addresses lead nowhere. It is never given
/// back. NULL when the kernel has none.
void *private_memory(size_t size);

#endif
