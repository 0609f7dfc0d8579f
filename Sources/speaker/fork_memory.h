// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a fork copies. A child lives for a few milliseconds: making its memory and clearing it away is most of what it
// costs beside speaking.

#ifndef SPEAKER_FORK_MEMORY_H
#define SPEAKER_FORK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/// Keeps out of children (or puts back) the libraries that are loaded only because the engine could play its sound
/// itself: sound servers, X11, codecs. They are four fifths of the mappings. Nothing in them may run in a child; a
/// library that does run there, by a fork handler, would crash it, which the caller has to try out.
void fork_memory_leave_out_libraries(bool leave_out);

/// Makes the pages that speaking will write, while nobody waits: the first `size` bytes at `shared`, which must begin
/// on a page, the engine's variables, and the stack. Only saves time; failing is harmless.
void fork_memory_touch(void *shared, size_t size);

#endif
