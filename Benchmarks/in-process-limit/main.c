// SPDX-License-Identifier: GPL-3.0-or-later
//
// Measures libespeak-ng when it is called directly, in one process and one thread, without any other code. The result
// is the upper limit for the pool of speakers.
//
//     in-process-limit ROUNDS < lines        one "VOICE<TAB>RATE<TAB>TEXT" per line, rate in words per minute
//     in-process-limit VOICE RATE ROUNDS     one text per line, all in the same voice
//
// The program speaks the lines in the given order, ROUNDS times after one warm-up round, and prints the time of a call.
// The voice is set only when it changes, inside the measured time, as a caller would do. The sound is copied, as a
// caller must do, and then discarded.

#include <espeak-ng/speak_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct line {
  char *voice;
  int rate;
  char *text;
};

static short samples[60 * 48000];
static size_t sample_count;

static int collect(short *wave, int count, espeak_EVENT *events) {
  (void)events;
  if (wave == NULL || count <= 0) return 0;
  size_t capacity = sizeof samples / sizeof samples[0];
  size_t room = capacity - (sample_count % capacity);
  size_t stored = (size_t)count < room ? (size_t)count : room;
  memcpy(samples + sample_count % capacity, wave, stored * sizeof samples[0]);
  sample_count += (size_t)count;
  return 0;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void fail(const char *message, const char *what) {
  fprintf(stderr, "in-process-limit: %s%s\n", message, what);
  exit(64);
}

/// Parses a whole number in a range, and ends the program with `message` for any other text.
static int number(const char *text, int least, int most, const char *message) {
  char *end = NULL;
  long value = strtol(text, &end, 10);
  if (end == text || *end != 0 || value < least || value > most) fail(message, text);
  return (int)value;
}

static const char not_a_rate[] = "a rate is 80 to 450 words a minute, not ";

/// Splits "VOICE<TAB>RATE<TAB>TEXT" in place. With a fixed voice the whole line is the text.
static struct line parse(char *text, char *fixed_voice, int fixed_rate) {
  if (fixed_voice != NULL) return (struct line){fixed_voice, fixed_rate, text};
  char *rate = strchr(text, '\t');
  char *words = rate == NULL ? NULL : strchr(rate + 1, '\t');
  if (words == NULL) fail("a line is VOICE<TAB>RATE<TAB>TEXT, not ", text);
  *rate++ = 0;
  *words++ = 0;
  return (struct line){text, number(rate, 80, 450, not_a_rate), words};
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 4) fail("usage: in-process-limit [VOICE RATE] ROUNDS < lines", "");
  char *fixed_voice = argc == 4 ? argv[1] : NULL;
  int fixed_rate = argc == 4 ? number(argv[2], 80, 450, not_a_rate) : 0;
  int rounds = number(argv[argc - 1], 1, 1000000, "ROUNDS is 1 to 1000000, not ");

  size_t line_count = 0, capacity = 0;
  struct line *lines = NULL;
  char *buffer = NULL;
  size_t buffer_size = 0;
  ssize_t length;
  while ((length = getline(&buffer, &buffer_size, stdin)) >= 0) {
    if (length > 0 && buffer[length - 1] == '\n') buffer[--length] = 0;
    if (length == 0) continue;
    if (line_count == capacity) {
      capacity = capacity == 0 ? 64 : 2 * capacity;
      lines = realloc(lines, capacity * sizeof *lines);
      if (lines == NULL) fail("out of memory", "");
    }
    char *copy = strdup(buffer);
    if (copy == NULL) fail("out of memory", "");
    lines[line_count++] = parse(copy, fixed_voice, fixed_rate);
  }
  if (line_count == 0) fail("no lines on standard input", "");

  if (espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, NULL, espeakINITIALIZE_DONT_EXIT) < 0) {
    fprintf(stderr, "in-process-limit: the engine's data is missing: install espeak-ng-data\n");
    return 69;
  }
  espeak_SetSynthCallback(collect);

  size_t call_count = line_count * (size_t)rounds;
  double *durations = malloc(call_count * sizeof *durations);
  if (durations == NULL) fail("out of memory", "");
  const char *voice = "";
  double began = 0;
  size_t call = 0;
  for (int round = -1; round < rounds; round++) {
    if (round == 0) began = seconds_now();
    for (size_t index = 0; index < line_count; index++) {
      const struct line *line = &lines[index];
      double start = seconds_now();
      if (strcmp(voice, line->voice) != 0) {
        if (espeak_SetVoiceByName(line->voice) != EE_OK) fail("the engine has no voice ", line->voice);
        voice = line->voice;
      }
      sample_count = 0;
      espeak_SetParameter(espeakRATE, line->rate, 0);
      if (espeak_Synth(line->text, strlen(line->text) + 1, 0, POS_CHARACTER, 0, espeakCHARS_UTF8, NULL, NULL)
          != EE_OK) {
        fail("the engine refused ", line->text);
      }
      if (round >= 0) durations[call++] = seconds_now() - start;
    }
  }
  double seconds = seconds_now() - began;

  qsort(durations, call_count, sizeof *durations, by_value);
  printf("utterances %zu seconds %.3f p50_ms %.3f p99_ms %.3f\n", call_count, seconds,
         durations[call_count / 2] * 1e3, durations[(call_count * 99) / 100] * 1e3);
  return 0;
}
