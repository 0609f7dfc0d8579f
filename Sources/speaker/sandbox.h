// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a child that speaks one text may do: compute, read its request, and say that it is done.

#ifndef SPEAKER_SANDBOX_H
#define SPEAKER_SANDBOX_H

#include <stdbool.h>

/// The descriptors of a child. The filter is made once and names them by number.
enum {
  REQUEST_DESCRIPTOR = 3,  // it reads a nonce: begin
  DONE_DESCRIPTOR = 4,     // it writes that nonce: the results are in its memory
  CHILD_DESCRIPTORS = 5,   // it has no other
};

/// The most descriptors that a voice process needs.
enum { VOICE_DESCRIPTORS = 10 };

enum { MEMORY_LIMIT_MEGABYTES = 128, CPU_LIMIT_SECONDS = 5 };

/// Makes the system-call filter, and takes from this process and its children the right to gain privileges.
bool sandbox_prepare(void);

/// The limits of a voice process, which its children inherit: memory (MEMORY_LIMIT_MEGABYTES above what is in use
/// now), no files written, no descriptor beyond VOICE_DESCRIPTORS, no core files.
bool sandbox_limit_inherited(void);

/// Confines this process for good: CPU time, no processes, no new descriptors, and the filter.
bool sandbox_enter(void);

#endif
