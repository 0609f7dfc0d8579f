// SPDX-License-Identifier: GPL-3.0-or-later
//
// The process of one voice: an initialised engine that has spoken nothing yet. It forks a child for each utterance,
// before the request arrives, so that every utterance starts from the same state and none waits for a fork.

#ifndef SPEAKER_VOICE_PROCESS_H
#define SPEAKER_VOICE_PROCESS_H

#include <sys/types.h>

#include "utterance.h"

/// The number of prepared children. While one speaks, the next one is already waiting.
enum { CHANNEL_COUNT = 2 };

/// The resources of one child: two pipes and the memory for its utterance. The next child that gets them is forked
/// after this one has ended.
struct channel {
  int request, done;
  struct utterance *utterance;
};

/// A number that cannot be guessed. The child that receives a request answers with its number.
struct nonce {
  unsigned char bytes[16];
};

/// The way in which a child ended. A child with a request may be controlled by the text, so each of these may be a
/// false claim.
enum child_end {
  CHILD_END_SPOKE,
  CHILD_END_NOT_CONFINED,  // Reported by the child itself; reliable only before it has taken its request.
  CHILD_END_LEFT,          // The child ended by itself, without having spoken.
  CHILD_END_MEMORY_LIMIT,
  CHILD_END_SIGNAL,
};

/// A voice process's report to the speaker about a child that has ended. It is written at once, so it is read
/// completely.
struct child_report {
  unsigned char channel;
  unsigned char end;     // enum child_end
  unsigned char signal;  // The signal that ended the child, or 0.
};

/// The exit statuses of a voice process that fails.
enum voice_exit {
  VOICE_EXIT_CHILD_FAILED = 1,  // Its last report says how.
  VOICE_EXIT_UNKNOWN_VOICE = 3,
  VOICE_EXIT_NOT_CONFINED = 4,
  VOICE_EXIT_NO_CHILD = 5,
};

/// Runs in a fork of the speaker and never returns. `channels` has the children's ends. When a child has ended, this
/// process writes a report to `ended`. From then on no process writes into the memory or the pipe of that child's
/// channel, and the memory is not read again before the speaker has written there. The voice process ends when a child
/// ends abnormally. The speaker starts it again when the voice is needed.
_Noreturn void voice_process_run(const char *voice, const struct channel *channels, int ended, pid_t speaker);

/// Returns whether a confined child can be started on this system. It forks one and waits for its end.
bool voice_process_can_confine(void);

#endif
