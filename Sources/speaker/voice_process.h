// SPDX-License-Identifier: GPL-3.0-or-later
//
// The process of one voice: a warm engine that has said nothing yet. It forks a child for each utterance, ahead of
// the request, so that every utterance starts from the same state and none waits for a fork.

#ifndef SPEAKER_VOICE_PROCESS_H
#define SPEAKER_VOICE_PROCESS_H

#include <sys/types.h>

#include "utterance.h"

/// How a voice process ends: with one of these, or with CHILD_SIGNALLED plus the signal that ended its child.
enum voice_exit {
  VOICE_EXIT_UNKNOWN_VOICE = 3,
  VOICE_EXIT_NOT_CONFINED = 4,
  VOICE_EXIT_NO_CHILD = 5,
  VOICE_EXIT_CHILD_LEFT = 6,   // the engine ended its process by itself
  VOICE_EXIT_MEMORY_LIMIT = 7,
  VOICE_EXIT_CHILD_SIGNALLED = 64,
};

struct voice_descriptors {
  int request, done, ended;
};

/// Runs in a fork of the speaker and never returns. Ends when a child of its ends in any but the normal way: the
/// speaker learns from the status how, and makes it anew when the voice is asked for again.
_Noreturn void voice_process_run(const char *voice, struct voice_descriptors descriptors, struct utterance *utterance,
                                 pid_t speaker);

/// Whether a confined child can be made here at all: forks one and sees it out.
bool voice_process_can_confine(void);

#endif
