// SPDX-License-Identifier: GPL-3.0-or-later
//
// The permissions of a child that speaks one text: it may compute, read its request, and report that it is done.

#ifndef SPEAKER_SANDBOX_H
#define SPEAKER_SANDBOX_H

#include <stdbool.h>

/// The descriptors of a child. The filter is built once and refers to them by number.
enum {
  REQUEST_DESCRIPTOR = 3,  // The child reads a nonce, which means: begin.
  DONE_DESCRIPTOR = 4,     // The child writes that nonce when its results are in memory.
  CHILD_DESCRIPTORS = 5,   // The child has no others.
};

/// The largest number of descriptors that a voice process needs.
enum { VOICE_DESCRIPTORS = 10 };

enum { MEMORY_LIMIT_MEGABYTES = 128, CPU_LIMIT_SECONDS = 5 };

/// Builds the system-call filter, and removes the right of this process and its children to gain privileges.
bool sandbox_prepare(void);

/// Sets the limits of a voice process, which its children inherit: memory (MEMORY_LIMIT_MEGABYTES above the current
/// use), no file writes, no descriptor beyond VOICE_DESCRIPTORS, no core files.
bool sandbox_limit_inherited(void);

/// Confines this process permanently: CPU time, no processes, no new descriptors, and the filter.
bool sandbox_enter(void);

#endif
