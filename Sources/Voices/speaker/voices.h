// SPDX-License-Identifier: GPL-3.0-or-later
//
// The speaker's voice processes. They are started when a voice is needed, kept while it is used, and ended when they
// fail.

#ifndef SPEAKER_VOICES_H
#define SPEAKER_VOICES_H

#include <poll.h>

#include "protocol.h"

enum { VOICE_LIMIT = 8 };

/// Allocates the memory for results. Returns false when there is none.
bool voices_prepare(void);

/// Lets the voice of an acceptable request speak it. The parts of the reply stay valid until the next call. Returns
/// false when the client has disconnected meanwhile, so that no answer is needed.
bool voices_speak(const struct request *request, struct reply *reply);

/// Waits until there is something to read on file descriptor 0, and removes voice processes that ended meanwhile.
void voices_wait_for_input(void);

/// Ends all voice processes and their children, and waits for their end.
void voices_end(void);

#endif
