// SPDX-License-Identifier: GPL-3.0-or-later
//
// The memory that a fork copies. A child lives for a few milliseconds. Apart from speaking, most of its cost is the
// creation and removal of its memory.

#ifndef SPEAKER_FORK_MEMORY_H
#define SPEAKER_FORK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/// Excludes from children (or includes again) the libraries that are loaded only because the engine could play its
/// sound itself: sound servers, X11, codecs. They are four fifths of the mappings. No code in them may run in a child.
/// A library with a fork handler would run and crash the child, so the caller must test for that.
void fork_memory_leave_out_libraries(bool leave_out);

/// Creates the pages to which speaking will write: those of the `size` bytes at `shared`, of the engine's variables,
/// and of the stack. It is called while no request waits. The function only saves time, so its failure is harmless.
void fork_memory_touch(void *shared, size_t size);

#endif
