// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "utterance.h"

#include <espeak-ng/espeak_ng.h>
#include <espeak-ng/speak_lib.h>
#include <stdio.h>
#include <string.h>

static int native_sample_rate;
static struct utterance *current;

bool engine_initialise(const char *data_folder) {
  native_sample_rate = espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, data_folder, espeakINITIALIZE_DONT_EXIT);
  if (native_sample_rate <= 0) return false;
  // The list of voices is created here once, instead of by each voice process that looks up a name.
  return espeak_ListVoices(NULL) != NULL;
}

const char *engine_data_folder(void) {
  const char *folder = NULL;
  espeak_Info(&folder);
  return folder;
}

const char *engine_version(void) {
  static char version[32];
  const char *text = espeak_Info(NULL);
  snprintf(version, sizeof version, "%.*s", (int)strcspn(text, " "), text);
  return version;
}

bool engine_set_voice(const char *voice) {
  if (espeak_SetVoiceByName(voice) != EE_OK) return false;
  // Another program, which is never started, speaks the voices of mbrola.
  const espeak_VOICE *set = espeak_GetCurrentVoice();
  return set != NULL && (set->identifier == NULL || strncmp(set->identifier, "mb/", 3) != 0);
}

static void note_event(struct utterance_result *result, const espeak_EVENT *event) {
  if (event->type == espeakEVENT_SAMPLERATE) result->sample_rate = (uint32_t)event->id.number;
  if (event->type != espeakEVENT_WORD || result->mark_count == MARK_CAPACITY) return;
  // The engine counts characters from 1.
  uint32_t position = event->text_position > 0 ? (uint32_t)event->text_position - 1 : 0;
  current->marks[result->mark_count++] =
      (struct mark){position, (uint32_t)event->length, (uint32_t)event->audio_position};
}

static int collect(short *wave, int count, espeak_EVENT *events) {
  struct utterance_result *result = &current->result;
  for (; events->type != espeakEVENT_LIST_TERMINATED; events++) note_event(result, events);
  if (wave == NULL || count <= 0) return 0;
  uint32_t room = current->request.maximum_samples - result->stored_samples;
  uint32_t stored = (uint32_t)count < room ? (uint32_t)count : room;
  memcpy(current->samples + result->stored_samples, wave, stored * sizeof *wave);
  result->stored_samples += stored;
  result->total_samples += (uint64_t)count;
  return result->total_samples >= (uint64_t)LONGEST_SPEECH_SECONDS * result->sample_rate;
}

/// Even in plain text U+0001 begins a command to the engine: another voice's file, another pitch, phoneme input. It and
/// similar characters become spaces, byte by byte, so that positions stay unchanged.
static void blank_control_characters(char *text, size_t count) {
  for (size_t index = 0; index < count; index++) {
    unsigned char byte = (unsigned char)text[index];
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) text[index] = ' ';
  }
}

void utterance_speak(struct utterance *utterance) {
  current = utterance;
  struct utterance_result *result = &utterance->result;
  *result = (struct utterance_result){.sample_rate = (uint32_t)native_sample_rate};
  blank_control_characters(utterance->request.text, utterance->request.text_bytes);

  FILE *trace = NULL;
  if (utterance->request.kind == KIND_PHONEMES) {
    trace = fmemopen(utterance->phonemes, PHONEME_CAPACITY, "w");
    if (trace == NULL) {
      result->engine_error = EE_INTERNAL_ERROR;
      return;
    }
    espeak_SetPhonemeTrace(espeakPHONEMES_SHOW, trace);
  }

  espeak_SetSynthCallback(collect);
  espeak_ERROR error = espeak_SetParameter(espeakRATE, (int)utterance->request.rate, 0);
  if (error == EE_OK) {
    error = espeak_Synth(utterance->request.text, utterance->request.text_bytes + 1, 0, POS_CHARACTER, 0,
                         espeakCHARS_UTF8, NULL, NULL);
  }
  // The engine reports an error when it is stopped at the longest speech, but that stop is intended.
  bool stopped = result->total_samples >= (uint64_t)LONGEST_SPEECH_SECONDS * result->sample_rate;
  result->engine_error = stopped ? EE_OK : error;

  if (trace != NULL) {
    long length = fflush(trace) == 0 ? ftell(trace) : -1;
    result->phonemes_cut = length < 0 || length >= PHONEME_CAPACITY;
    result->phoneme_bytes = result->phonemes_cut ? 0 : (uint32_t)length;
  }
}
