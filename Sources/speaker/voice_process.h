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

/// How a child ended. A child that was given a request may have been taken over by the text: then each of these may be
/// what the text wants to be believed.
enum child_end {
  CHILD_END_SPOKE,
  CHILD_END_NOT_CONFINED,  // by its own word; true only of a child that has not taken its request
  CHILD_END_LEFT,          // it ended by itself, without having spoken
  CHILD_END_MEMORY_LIMIT,
  CHILD_END_SIGNAL,
};

/// What a voice process tells the speaker of a child that is gone. It is written at once, and so it is read whole.
struct child_report {
  unsigned char channel;
  unsigned char end;     // enum child_end
  unsigned char signal;  // the one that ended the child, or 0
};

/// How a voice process ends that fails by itself.
enum voice_exit {
  VOICE_EXIT_CHILD_FAILED = 1,  // its last report says how
  VOICE_EXIT_UNKNOWN_VOICE = 3,
  VOICE_EXIT_NOT_CONFINED = 4,
  VOICE_EXIT_NO_CHILD = 5,
};

/// Runs in a fork of the speaker and never returns. `channels` has the children's ends. On `ended` it writes a report
/// when a child is gone: nobody writes into the memory or the pipe of that child's channel any more, and the memory is
/// not read again before the speaker has written there. The voice process ends when a child ends in any but the normal
/// way; the speaker makes it anew when the voice is asked for again.
_Noreturn void voice_process_run(const char *voice, const struct channel *channels, int ended, pid_t speaker);

/// Whether a confined child can be made here at all: forks one and sees it out.
bool voice_process_can_confine(void);

#endif
