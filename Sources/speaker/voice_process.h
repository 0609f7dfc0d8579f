// SPDX-License-Identifier: GPL-3.0-or-later
//
// The process of one voice: a warm engine that has said nothing yet. It forks a child for each utterance, ahead of
// the request, so that every utterance starts from the same state and none waits for a fork.

#ifndef SPEAKER_VOICE_PROCESS_H
#define SPEAKER_VOICE_PROCESS_H

#include <sys/types.h>

#include "utterance.h"

/// How many children wait: while one speaks, the next is waiting already.
enum { CHANNEL_COUNT = 2 };

/// What one child has, and no other: two pipes and the memory for its utterance. The next child that gets it is forked
/// when this one has ended.
struct channel {
  int request, done;
  struct utterance *utterance;
};

/// A number that nobody can guess. The child that a request is given to answers with it.
struct nonce {
  unsigned char bytes[16];
};

/// How a voice process ends: with one of these, or with CHILD_SIGNALLED plus the signal that ended its child.
enum voice_exit {
  VOICE_EXIT_UNKNOWN_VOICE = 3,
  VOICE_EXIT_NOT_CONFINED = 4,
  VOICE_EXIT_NO_CHILD = 5,
  VOICE_EXIT_CHILD_LEFT = 6,   // the engine ended its process by itself
  VOICE_EXIT_MEMORY_LIMIT = 7,
  VOICE_EXIT_CHILD_SIGNALLED = 64,
};

/// Runs in a fork of the speaker and never returns. `channels` has the children's ends. On `ended` it writes the
/// number of a channel, as one byte, when the channel's child has spoken and is gone: nobody writes into its memory or
/// its pipe any more, and the memory is not read again before the speaker has written there. Ends when a child of its ends in any but the normal way: the
/// speaker learns from the status how, and makes it anew when the voice is asked for again.
_Noreturn void voice_process_run(const char *voice, const struct channel *channels, int ended, pid_t speaker);

/// Whether a confined child can be made here at all: forks one and sees it out.
bool voice_process_can_confine(void);

#endif
