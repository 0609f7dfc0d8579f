// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "voices.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine_data.h"
#include "utterance.h"
#include "voice_process.h"

enum { CHILD_EXIT_MS = 500 };  // for what takes 0.2 ms, on a machine with much else to do

static struct voice_process {
  pid_t process;  // 0: none
  char voice[VOICE_BYTES_LIMIT + 1];
  int request, done, ended;      // our ends of its three pipes
  bool child_ending;             // the last child said that it is done and was not yet seen to end
  uint64_t last_used;
  struct utterance *utterance;   // shared with its children
} processes[VOICE_LIMIT];
static uint64_t use_count;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/// Ends the process with all its children, and forgets it. Returns its status as waitpid() gives it.
static int end_process(struct voice_process *process) {
  int status = 0;
  // When it has ended by itself already, it keeps its status. Its children are ours then (main.c makes us their
  // reaper), and are waited for too.
  kill(-process->process, SIGKILL);
  while (waitpid(process->process, &status, 0) < 0 && errno == EINTR) {
  }
  while (waitpid(-process->process, NULL, 0) > 0 || errno == EINTR) {
  }
  close(process->request);
  close(process->done);
  close(process->ended);
  munmap(process->utterance, sizeof *process->utterance);
  *process = (struct voice_process){0};
  return status;
}

/// Nothing is allocated: what the engine's memory holds in a voice process must not depend on earlier requests.
static int start_process(struct voice_process *process, const char *voice) {
  int pipes[3][2];
  int made = 0;
  while (made < 3 && pipe2(pipes[made], O_CLOEXEC) == 0) made++;
  struct utterance *utterance = made < 3 ? MAP_FAILED
      : mmap(NULL, sizeof *utterance, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t speaker = getpid();
  pid_t child = utterance == MAP_FAILED ? -1 : fork();
  if (child < 0) {
    int error = errno;
    for (int index = 0; index < made; index++) close(pipes[index][0]), close(pipes[index][1]);
    if (utterance != MAP_FAILED) munmap(utterance, sizeof *utterance);
    return error;
  }
  if (child == 0) {
    struct voice_descriptors theirs = {pipes[0][0], pipes[1][1], pipes[2][1]};
    voice_process_run(voice, theirs, utterance, speaker);
  }
  setpgid(child, child);
  close(pipes[0][0]);
  close(pipes[1][1]);
  close(pipes[2][1]);
  madvise(utterance, sizeof *utterance, MADV_DONTFORK);  // no other voice's process sees it
  *process = (struct voice_process){
      .process = child, .request = pipes[0][1], .done = pipes[1][0], .ended = pipes[2][0], .utterance = utterance};
  strcpy(process->voice, voice);
  return 0;
}

/// The process of that voice, made if there is none; the one not used for longest gives way. NULL: see `error`.
static struct voice_process *process_of(const char *voice, int *error) {
  struct voice_process *chosen = NULL;
  for (int index = 0; index < VOICE_LIMIT; index++) {
    struct voice_process *process = &processes[index];
    if (process->process != 0 && strcmp(process->voice, voice) == 0) {
      process->last_used = ++use_count;
      return process;
    }
    if (chosen == NULL || process->last_used < chosen->last_used) chosen = process;
  }
  if (chosen->process != 0) end_process(chosen);
  *error = start_process(chosen, voice);
  if (*error != 0) return NULL;
  chosen->last_used = ++use_count;
  return chosen;
}

enum waiting { WAITING_BYTE, WAITING_ENDED, WAITING_DEADLINE, WAITING_CLIENT_GONE };

/// Waits for a byte on one of the process's pipes, its end, the deadline, or the client's going.
static enum waiting wait_for(const struct voice_process *process, int descriptor, int64_t deadline) {
  for (;;) {
    int64_t left = deadline - now_ms();
    if (left <= 0) return WAITING_DEADLINE;
    // Without POLLIN, a descriptor is reported only when its other end has been closed.
    struct pollfd polled[] = {
        {.fd = descriptor, .events = POLLIN}, {.fd = process->ended, .events = 0}, {.fd = STDOUT_FILENO, .events = 0}};
    if (poll(polled, 3, (int)left) < 0 && errno != EINTR) return WAITING_ENDED;
    char byte;
    if ((polled[0].revents & POLLIN) != 0 && read(descriptor, &byte, 1) == 1) return WAITING_BYTE;
    if (((polled[0].revents | polled[1].revents) & (POLLHUP | POLLERR)) != 0) return WAITING_ENDED;
    if ((polled[2].revents & (POLLHUP | POLLERR)) != 0) return WAITING_CLIENT_GONE;
  }
}

/// The outcome that the end of a voice process stands for.
static void explain_end(int status, struct reply_header *header) {
  header->outcome = OUTCOME_CRASHED;
  if (WIFSIGNALED(status)) {
    header->detail = (uint32_t)WTERMSIG(status);
    return;
  }
  switch (WEXITSTATUS(status)) {
    case VOICE_EXIT_UNKNOWN_VOICE: header->outcome = OUTCOME_VOICE_UNKNOWN; return;
    case VOICE_EXIT_NOT_CONFINED:
    case VOICE_EXIT_NO_CHILD:
      header->outcome = OUTCOME_ENGINE_ERROR;
      header->detail = EAGAIN;
      return;
    case VOICE_EXIT_MEMORY_LIMIT: header->outcome = OUTCOME_LIMIT; return;
    case VOICE_EXIT_CHILD_SIGNALLED + SIGXCPU: header->outcome = OUTCOME_LIMIT; break;
  }
  if (WEXITSTATUS(status) > VOICE_EXIT_CHILD_SIGNALLED) {
    header->detail = (uint32_t)(WEXITSTATUS(status) - VOICE_EXIT_CHILD_SIGNALLED);
  }
}

/// Takes the results out of the shared memory. Nothing there is believed: the child may have been taken over.
static void take_results(const struct voice_process *process, const struct request *request, struct reply *reply) {
  const struct utterance *utterance = process->utterance;
  struct reply_header *header = &reply->header;
  struct utterance_result result;
  memcpy(&result, (const void *)&utterance->result, sizeof result);
  __asm__ volatile("" ::: "memory");  // `result` is the copy that is checked, not a second look at the original

  if (result.engine_error != 0) {
    header->outcome = OUTCOME_ENGINE_ERROR;
    header->detail = (uint32_t)result.engine_error;
    return;
  }
  if (result.phonemes_cut != 0) {
    header->outcome = OUTCOME_LIMIT;
    return;
  }
  if (result.sample_rate < 1000 || result.sample_rate > 192000 || result.mark_count > MARK_CAPACITY ||
      result.stored_samples > SAMPLE_CAPACITY || result.stored_samples > request->header.maximum_samples ||
      result.stored_samples > result.total_samples || result.phoneme_bytes > PHONEME_CAPACITY ||
      result.total_samples > (uint64_t)(LONGEST_SPEECH_SECONDS + 60) * result.sample_rate) {
    header->outcome = OUTCOME_CRASHED;
    return;
  }
  header->outcome = OUTCOME_DONE;
  header->sample_rate = result.sample_rate;
  header->total_samples = result.total_samples;
  header->stored_samples = result.stored_samples;
  header->mark_count = result.mark_count;
  header->phoneme_bytes = result.phoneme_bytes;
  reply->marks = utterance->marks;
  reply->phonemes = utterance->phonemes;
  reply->samples = utterance->samples;
}

static void give_request(const struct voice_process *process, const struct request *request) {
  struct utterance *utterance = process->utterance;
  const struct request_header *header = &request->header;
  bool samples_wanted = header->kind == KIND_SPEAK;
  uint32_t maximum = header->maximum_samples < SAMPLE_CAPACITY ? header->maximum_samples : SAMPLE_CAPACITY;
  utterance->request.kind = header->kind;
  utterance->request.rate = header->rate;
  utterance->request.maximum_samples = samples_wanted ? maximum : 0;
  utterance->request.text_bytes = header->text_bytes;
  memcpy(utterance->request.text, request->text, header->text_bytes + 1);
}

bool voices_speak(const struct request *request, struct reply *reply) {
  *reply = (struct reply){.header = {.magic = REPLY_MAGIC, .outcome = OUTCOME_VOICE_UNKNOWN}};
  int64_t deadline = now_ms() + request->header.deadline_ms;
  if (strlen(request->voice) != request->header.voice_bytes || !engine_data_names_voice(request->voice)) return true;

  int error = 0;
  struct voice_process *process = process_of(request->voice, &error);
  // The last child must be gone before its memory is used again: until then it could still write there.
  enum waiting waiting = WAITING_BYTE;
  if (process != NULL && process->child_ending) {
    int64_t patience = now_ms() + CHILD_EXIT_MS;
    waiting = wait_for(process, process->ended, patience < deadline ? patience : deadline);
    if (waiting == WAITING_ENDED || waiting == WAITING_DEADLINE) {
      // It was not this request that failed.
      end_process(process);
      process = process_of(request->voice, &error);
      waiting = WAITING_BYTE;
    }
  }
  if (process == NULL) {
    reply->header.outcome = OUTCOME_ENGINE_ERROR;
    reply->header.detail = (uint32_t)error;
    return true;
  }
  if (waiting == WAITING_BYTE) {
    give_request(process, request);
    process->child_ending = true;
    waiting = write(process->request, "", 1) == 1 ? wait_for(process, process->done, deadline) : WAITING_ENDED;
  }
  switch (waiting) {
    case WAITING_BYTE: take_results(process, request, reply); return true;
    case WAITING_ENDED: explain_end(end_process(process), &reply->header); return true;
    case WAITING_DEADLINE:
      end_process(process);
      reply->header.outcome = OUTCOME_DEADLINE;
      return true;
    case WAITING_CLIENT_GONE: return false;
  }
  return false;
}

void voices_wait_for_input(void) {
  for (;;) {
    struct pollfd polled[VOICE_LIMIT + 1] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    for (int index = 0; index < VOICE_LIMIT; index++) {
      // Without POLLIN, only its end is reported.
      polled[index + 1] = (struct pollfd){.fd = processes[index].process != 0 ? processes[index].ended : -1};
    }
    if (poll(polled, VOICE_LIMIT + 1, -1) < 0 && errno != EINTR) return;
    for (int index = 0; index < VOICE_LIMIT; index++) {
      if (polled[index + 1].revents != 0) end_process(&processes[index]);
    }
    if (polled[0].revents != 0) return;
  }
}

void voices_end(void) {
  for (int index = 0; index < VOICE_LIMIT; index++) {
    if (processes[index].process != 0) end_process(&processes[index]);
  }
}
