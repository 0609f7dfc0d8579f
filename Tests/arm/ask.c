// SPDX-License-Identifier: GPL-3.0-or-later
//
//     ask SAMPLES PROGRAM [ARGUMENT…] < lines        one "KIND<TAB>VOICE<TAB>RATE<TAB>TEXT" per line
//
// Starts a speaker, asks it for each line (KIND is "speak" or "phonemes"), and prints one line for the hello and one
// for each reply, with hashes of the marks, the phonemes and the samples. The samples are also written to the file
// SAMPLES, as they are. scripts/check-arm compares the output of two machines.

#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../Sources/Voices/speaker/protocol.h"

enum { DEADLINE_MS = 120000 };  // An emulated processor is slow.

static FILE *replies, *requests;

_Noreturn static void fail(const char *message) {
  fflush(stdout);
  fprintf(stderr, "ask: %s\n", message);
  exit(1);
}

static void *take(size_t count) {
  void *bytes = malloc(count + 1);
  if (bytes == NULL) fail("out of memory");
  if (fread(bytes, 1, count, replies) != count) fail("the speaker ended");
  return bytes;
}

static uint64_t fnv1a(const void *bytes, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t index = 0; index < count; index++) hash = (hash ^ ((const unsigned char *)bytes)[index]) * 0x100000001b3u;
  return hash;
}

static pid_t start(char **program) {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) fail("no pipe");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    close(to[0]), close(to[1]), close(from[0]), close(from[1]);
    execvp(program[0], program);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  requests = fdopen(to[1], "w");
  replies = fdopen(from[0], "r");
  if (child < 0 || requests == NULL || replies == NULL) fail("no process");
  return child;
}

static void read_hello(void) {
  struct hello *hello = take(sizeof *hello);
  char *version = take(hello->engine_version_bytes);
  version[hello->engine_version_bytes] = 0;
  if (hello->magic != HELLO_MAGIC || hello->version != PROTOCOL_VERSION) fail("the speaker does not greet");
  printf("hello status %" PRIu32 " engine %s data %016" PRIx64 "\n", hello->status, version, hello->data_fingerprint);
  if (hello->status != HELLO_READY) fail("the speaker is not ready");
  free(hello);
  free(version);
}

static void send(const char *kind, const char *voice, unsigned rate, const char *text, uint64_t identifier) {
  struct request_header header = {
      .magic = REQUEST_MAGIC,
      .kind = strcmp(kind, "phonemes") == 0 ? KIND_PHONEMES : KIND_SPEAK,
      .identifier = identifier,
      .rate = rate,
      .deadline_ms = DEADLINE_MS,
      .maximum_samples = SAMPLE_CAPACITY,
      .voice_bytes = (uint32_t)strlen(voice),
      .text_bytes = (uint32_t)strlen(text),
  };
  fwrite(&header, sizeof header, 1, requests);
  fputs(voice, requests);
  fputs(text, requests);
  if (fflush(requests) != 0) fail("the speaker reads nothing");
}

static void read_reply(uint64_t identifier, FILE *samples_file) {
  struct reply_header *header = take(sizeof *header);
  if (header->magic != REPLY_MAGIC || header->identifier != identifier) fail("the reply is not that of the request");
  size_t mark_bytes = header->mark_count * sizeof(struct mark), sample_bytes = header->stored_samples * sizeof(int16_t);
  void *marks = take(mark_bytes), *phonemes = take(header->phoneme_bytes), *samples = take(sample_bytes);
  printf("%" PRIu64 " outcome %" PRIu32 " detail %" PRIu32 " rate %" PRIu32 " samples %" PRIu64 "/%" PRIu32
         " marks %" PRIu32 " %016" PRIx64 " phonemes %" PRIu32 " %016" PRIx64 " sound %016" PRIx64 "\n",
         identifier, header->outcome, header->detail, header->sample_rate, header->total_samples,
         header->stored_samples, header->mark_count, fnv1a(marks, mark_bytes), header->phoneme_bytes,
         fnv1a(phonemes, header->phoneme_bytes), fnv1a(samples, sample_bytes));
  fwrite(samples, 1, sample_bytes, samples_file);
  free(marks), free(phonemes), free(samples), free(header);
}

int main(int count, char **arguments) {
  if (count < 3) fail("usage: ask SAMPLES PROGRAM [ARGUMENT…] < lines");
  signal(SIGPIPE, SIG_IGN);
  FILE *samples_file = fopen(arguments[1], "w");
  if (samples_file == NULL) fail("the file for samples cannot be written");
  pid_t speaker = start(arguments + 2);
  read_hello();
  static char line[TEXT_BYTES_LIMIT + 256];
  for (uint64_t identifier = 1; fgets(line, sizeof line, stdin) != NULL; identifier++) {
    line[strcspn(line, "\n")] = 0;
    char *rest = line;
    const char *kind = strsep(&rest, "\t"), *voice = strsep(&rest, "\t"), *rate = strsep(&rest, "\t");
    if (rest == NULL) fail("a line is KIND<TAB>VOICE<TAB>RATE<TAB>TEXT");
    send(kind, voice, (unsigned)strtoul(rate, NULL, 10), rest, identifier);
    read_reply(identifier, samples_file);
  }
  fclose(requests);
  int status = 0;
  waitpid(speaker, &status, 0);
  printf("end status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return fclose(samples_file) == 0 ? 0 : 1;
}
