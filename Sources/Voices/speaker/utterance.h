// SPDX-License-Identifier: GPL-3.0-or-later
//
// One utterance: the memory that a child shares with the speaker, and the speaking itself.

#ifndef SPEAKER_UTTERANCE_H
#define SPEAKER_UTTERANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

enum {
  MARK_CAPACITY = TEXT_BYTES_LIMIT,  // There are at most as many words as characters.
  PHONEME_CAPACITY = 1 << 20,        // 64 KiB of digits, the longest case, gives about 600 KiB.
};

/// The speaker writes the request and reads the results. A child may be controlled by its text, so the reader of the
/// results checks every number against the capacities.
struct utterance {
  struct {
    uint32_t kind, rate, maximum_samples, text_bytes;
    char text[TEXT_BYTES_LIMIT + 1];
  } request;
  struct utterance_result {
    int32_t engine_error;
    uint32_t sample_rate;
    uint64_t total_samples;
    uint32_t stored_samples, mark_count, phoneme_bytes, phonemes_cut;
  } result;
  struct mark marks[MARK_CAPACITY];
  char phonemes[PHONEME_CAPACITY];
  int16_t samples[SAMPLE_CAPACITY] __attribute__((aligned(4096)));
};

/// Starts the engine without a voice. `data_folder`: NULL for the engine's own. Returns false when its data is missing.
bool engine_initialise(const char *data_folder);

/// The engine's data folder and version, available after the start.
const char *engine_data_folder(void);
const char *engine_version(void);

/// Sets the voice of this process. Returns false when the engine has no voice of that name that it can speak itself.
bool engine_set_voice(const char *voice);

/// Speaks the request in `utterance` and stores the results there. Call it only once in a process, because the engine's
/// output depends on earlier output.
void utterance_speak(struct utterance *utterance);

#endif
