// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a child that speaks one text may do: compute, read its request, and say that it is done.

#ifndef SPEAKER_SANDBOX_H
#define SPEAKER_SANDBOX_H

#include <stdbool.h>

/// The descriptors of a voice process and of its children. The filter is made once and names them by number.
enum {
  REQUEST_DESCRIPTOR = 3,  // children read one byte: begin
  DONE_DESCRIPTOR = 4,     // children write one byte: the results are in the shared region
  ENDED_DESCRIPTOR = 5,    // the voice process writes one byte: that child has ended
  FIRST_FREE_DESCRIPTOR = 6,
};

enum { MEMORY_LIMIT_MEGABYTES = 128, CPU_LIMIT_SECONDS = 5 };

/// Makes the system-call filter, and takes from this process and its children the right to gain privileges.
bool sandbox_prepare(void);

/// The limits that children inherit: memory (MEMORY_LIMIT_MEGABYTES above what is in use now), no files written, no
/// new descriptors, no core files.
bool sandbox_limit_inherited(void);

/// Confines this process for good: CPU time, no processes, and the filter.
bool sandbox_enter(void);

#endif
