// SPDX-License-Identifier: GPL-3.0-or-later
//
// The speaker's voice processes: made when a voice is asked for, kept while it is used, ended when they fail.

#ifndef SPEAKER_VOICES_H
#define SPEAKER_VOICES_H

#include <poll.h>

#include "protocol.h"

enum { VOICE_LIMIT = 8 };

/// Makes the memory that results are kept in. False when there is none.
bool voices_prepare(void);

/// Has a request that is acceptable spoken by its voice. The reply's parts stay where they are until the next call.
/// False when the client has gone meanwhile, and nobody is there to answer.
bool voices_speak(const struct request *request, struct reply *reply);

/// Waits until there is something to read on file descriptor 0, and clears away voice processes that ended meanwhile.
void voices_wait_for_input(void);

/// Ends all voice processes and their children, and waits for their end.
void voices_end(void);

#endif
