// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "voices.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine_data.h"
#include "private_memory.h"
#include "utterance.h"
#include "voice_process.h"

static struct voice_process {
  pid_t process;  // 0: none.
  char voice[VOICE_BYTES_LIMIT + 1];
  struct channel channels[CHANNEL_COUNT];  // Our ends; the memory is shared with the channel's child.
  int next;                                // The channel of the next request.
  int ended;                               // Our end of the voice process's own pipe.
  uint64_t last_used;
} processes[VOICE_LIMIT];
static uint64_t use_count;

/// The results of the last request, and the nonce that its child must answer with. No other process ever sees them.
static struct results {
  struct nonce nonce;
  struct mark marks[MARK_CAPACITY];
  char phonemes[PHONEME_CAPACITY];
  int16_t samples[SAMPLE_CAPACITY];
} *results;

bool voices_prepare(void) {
  results = private_memory(sizeof *results);
  return results != NULL;
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void free_channel(struct channel *channel) {
  if (channel->request >= 0) close(channel->request);
  if (channel->done >= 0) close(channel->done);
  if (channel->utterance != NULL) munmap(channel->utterance, sizeof *channel->utterance);
}

/// Ends the process and all its children, and clears the entry. Returns the status of the process as reported by
/// waitpid().
static int end_process(struct voice_process *process) {
  int status = 0;
  // A process that has already ended by itself keeps its status. Its children are then ours (main.c makes this process
  // their reaper), and are waited for too.
  kill(-process->process, SIGKILL);
  while (waitpid(process->process, &status, 0) < 0 && errno == EINTR) {
  }
  while (waitpid(-process->process, NULL, 0) > 0 || errno == EINTR) {
  }
  for (int index = 0; index < CHANNEL_COUNT; index++) free_channel(&process->channels[index]);
  close(process->ended);
  *process = (struct voice_process){0};
  return status;
}

/// Creates the two sides of a channel. The answer is read without waiting, because it is complete when the child has
/// ended.
static bool make_channel(struct channel *ours, struct channel *theirs) {
  *ours = *theirs = (struct channel){.request = -1, .done = -1};
  int request[2], done[2];
  if (pipe2(request, O_CLOEXEC) != 0) return false;
  ours->request = request[1];
  theirs->request = request[0];
  if (pipe2(done, O_CLOEXEC) != 0) return false;
  ours->done = done[0];
  theirs->done = done[1];
  void *memory = mmap(NULL, sizeof *ours->utterance, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || fcntl(ours->done, F_SETFL, O_NONBLOCK) != 0) return false;
  ours->utterance = theirs->utterance = memory;
  return true;
}

/// Starts a voice process. The function allocates no memory, because the engine's memory in a voice process must not
/// depend on earlier requests.
static int start_process(struct voice_process *process, const char *voice) {
  *process = (struct voice_process){0};
  strcpy(process->voice, voice);
  struct channel theirs[CHANNEL_COUNT];
  int ended[2] = {-1, -1};
  bool made = true;
  for (int index = 0; index < CHANNEL_COUNT; index++) {
    made = make_channel(&process->channels[index], &theirs[index]) && made;
  }
  made = made && pipe2(ended, O_CLOEXEC) == 0;
  pid_t speaker = getpid();
  pid_t child = made ? fork() : -1;
  int error = errno;
  // The new process does not have the request's own memory, so it reads the voice's name from the copy.
  if (child == 0) voice_process_run(process->voice, theirs, ended[1], speaker);
  for (int index = 0; index < CHANNEL_COUNT; index++) {
    theirs[index].utterance = NULL;  // Our side uses the same memory.
    free_channel(&theirs[index]);
  }
  if (ended[1] >= 0) close(ended[1]);
  if (child < 0) {
    for (int index = 0; index < CHANNEL_COUNT; index++) free_channel(&process->channels[index]);
    if (ended[0] >= 0) close(ended[0]);
    *process = (struct voice_process){0};
    return error;
  }
  setpgid(child, child);
  for (int index = 0; index < CHANNEL_COUNT; index++) {
    // The process of another voice never sees this memory.
    madvise(process->channels[index].utterance, sizeof *process->channels[index].utterance, MADV_DONTFORK);
  }
  process->process = child;
  process->ended = ended[0];
  return 0;
}

/// Returns the process of a voice, and starts it if there is none. The least recently used process is replaced. Returns
/// NULL on failure, with the reason in `error`.
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

enum waiting { WAITING_CHILD_ENDED, WAITING_PROCESS_ENDED, WAITING_DEADLINE, WAITING_CLIENT_GONE };

/// Waits until the voice process reports the end of a child, ends itself, the deadline passes, or the client
/// disconnects.
static enum waiting wait_for_child(const struct voice_process *process, int64_t deadline, struct child_report *report) {
  for (;;) {
    int64_t left = deadline - now_ms();
    if (left <= 0) return WAITING_DEADLINE;
    // Without POLLIN, a descriptor is reported only when its other end has been closed.
    struct pollfd polled[] = {{.fd = process->ended, .events = POLLIN}, {.fd = STDOUT_FILENO, .events = 0}};
    if (poll(polled, 2, (int)left) < 0 && errno != EINTR) return WAITING_PROCESS_ENDED;
    if ((polled[0].revents & POLLIN) != 0 && read(process->ended, report, sizeof *report) == sizeof *report) {
      return WAITING_CHILD_ENDED;
    }
    if ((polled[0].revents & (POLLHUP | POLLERR)) != 0) return WAITING_PROCESS_ENDED;
    if ((polled[1].revents & (POLLHUP | POLLERR)) != 0) return WAITING_CLIENT_GONE;
  }
}

static bool pipe_is_empty(int descriptor) {
  int bytes = 0;
  return ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes == 0;
}

/// Returns whether the process runs and all its pipes are empty: no request waits to be taken, and there is no
/// unexpected answer and no unexpected end.
static bool is_quiet(const struct voice_process *process) {
  struct pollfd ended = {.fd = process->ended, .events = POLLIN};
  if (poll(&ended, 1, 0) != 0) return false;
  for (int index = 0; index < CHANNEL_COUNT; index++) {
    const struct channel *channel = &process->channels[index];
    if (!pipe_is_empty(channel->request) || !pipe_is_empty(channel->done)) return false;
  }
  return true;
}

/// Returns whether the pipe of a channel's ended child contains exactly the nonce that the child received.
static bool is_answered(const struct channel *channel) {
  struct nonce answer;
  return read(channel->done, &answer, sizeof answer) == sizeof answer &&
         memcmp(&answer, &results->nonce, sizeof answer) == 0 && pipe_is_empty(channel->done);
}

static void explain_no_process(int error, struct reply_header *header) {
  header->outcome = OUTCOME_NO_PROCESS;
  header->detail = (uint32_t)error;
}

/// Sets the outcome for a signal. The signals that a fault of the engine raises mean a crash. A text cannot cause any
/// other signal, because its process may not send signals, not even to itself. Any other signal therefore came from
/// outside (an operator, a service manager, the kernel short of memory). A signal from outside that equals a fault's
/// signal cannot be distinguished from the fault.
static void explain_signal(int signal, struct reply_header *header) {
  header->detail = (uint32_t)signal;
  switch (signal) {
    case SIGXCPU: header->outcome = OUTCOME_LIMIT; return;
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS: header->outcome = OUTCOME_CRASHED; return;
    default: header->outcome = OUTCOME_ENDED;
  }
}

/// Sets the outcome for a voice process that ended by itself. A text that no child received cannot have failed.
static void explain_process_end(int status, bool request_given, struct reply_header *header) {
  if (WIFEXITED(status)) {
    switch (WEXITSTATUS(status)) {
      case VOICE_EXIT_UNKNOWN_VOICE: header->outcome = OUTCOME_VOICE_UNKNOWN; return;
      case VOICE_EXIT_NOT_CONFINED:
      case VOICE_EXIT_NO_CHILD: explain_no_process(EAGAIN, header); return;
      default: break;
    }
  }
  header->outcome = request_given ? OUTCOME_CRASHED : OUTCOME_ENDED;
  if (request_given && WIFSIGNALED(status)) explain_signal(WTERMSIG(status), header);
}

/// Sets the outcome for a child that ended without the expected answer. Once a child has taken the request, the text
/// may control it. However the child then ends, this counts as a failure of the text, and never as a failure of the
/// whole engine. A child without a request knows no text, so its report is trusted.
static void explain_child_end(const struct child_report *report, bool took_request, struct reply_header *header) {
  if (!took_request && report->end == CHILD_END_NOT_CONFINED) return explain_no_process(EAGAIN, header);
  header->detail = report->signal;
  header->outcome = took_request ? OUTCOME_CRASHED : OUTCOME_ENDED;
  if (took_request && report->end == CHILD_END_MEMORY_LIMIT) header->outcome = OUTCOME_LIMIT;
  if (took_request && report->end == CHILD_END_SIGNAL) explain_signal(report->signal, header);
}

/// Copies the results out of a channel whose child has ended. Nothing there is trusted, because the text may have
/// controlled the child.
static void take_results(const struct channel *channel, const struct request *request, struct reply *reply) {
  const struct utterance *utterance = channel->utterance;
  const struct utterance_result result = utterance->result;
  struct reply_header *header = &reply->header;

  if (result.engine_error != 0) {
    header->outcome = OUTCOME_CRASHED;
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
  memcpy(results->marks, utterance->marks, result.mark_count * sizeof *results->marks);
  memcpy(results->phonemes, utterance->phonemes, result.phoneme_bytes);
  memcpy(results->samples, utterance->samples, result.stored_samples * sizeof *results->samples);
  reply->marks = results->marks;
  reply->phonemes = results->phonemes;
  reply->samples = results->samples;
}

/// Returns all of a channel's memory to the kernel. Any data of a child is erased, and the next reader finds zeros.
static void wipe(struct channel *channel) {
  size_t size = sizeof *channel->utterance;
  if (madvise(channel->utterance, size, MADV_REMOVE) != 0) explicit_bzero(channel->utterance, size);
}

/// Stores a request where the channel's child finds it, and lets the child begin. Returns false if that is not
/// possible.
static bool give_request(const struct channel *channel, const struct request *request) {
  struct utterance *utterance = channel->utterance;
  const struct request_header *header = &request->header;
  bool samples_wanted = header->kind == KIND_SPEAK;
  uint32_t maximum = header->maximum_samples < SAMPLE_CAPACITY ? header->maximum_samples : SAMPLE_CAPACITY;
  utterance->request.kind = header->kind;
  utterance->request.rate = header->rate;
  utterance->request.maximum_samples = samples_wanted ? maximum : 0;
  utterance->request.text_bytes = header->text_bytes;
  memcpy(utterance->request.text, request->text, header->text_bytes + 1);
  const struct nonce *nonce = &results->nonce;
  return getrandom(&results->nonce, sizeof *nonce, 0) == sizeof *nonce &&
         write(channel->request, nonce, sizeof *nonce) == sizeof *nonce;
}

bool voices_speak(const struct request *request, struct reply *reply) {
  reply->header.outcome = OUTCOME_VOICE_UNKNOWN;
  int64_t deadline = now_ms() + request->header.deadline_ms;
  if (strlen(request->voice) != request->header.voice_bytes || !engine_data_names_voice(request->voice)) return true;

  int error = 0;
  struct voice_process *process = process_of(request->voice, &error);
  if (process != NULL && !is_quiet(process)) {
    // The failure was not caused by this request.
    end_process(process);
    process = process_of(request->voice, &error);
  }
  if (process == NULL) {
    explain_no_process(error, &reply->header);
    return true;
  }
  int number = process->next;
  struct channel *channel = &process->channels[number];
  struct child_report report = {0};
  bool request_given = give_request(channel, request);
  enum waiting waiting = request_given ? wait_for_child(process, deadline, &report) : WAITING_PROCESS_ENDED;
  switch (waiting) {
    case WAITING_CHILD_ENDED: {
      // The child has ended, so its results cannot change any more. They are examined only now.
      bool took_request = report.channel == number && pipe_is_empty(channel->request);
      if (!took_request || report.end != CHILD_END_SPOKE || !is_answered(channel)) {
        explain_child_end(&report, took_request, &reply->header);
        end_process(process);
        return true;
      }
      take_results(channel, request, reply);
      wipe(channel);
      process->next = (number + 1) % CHANNEL_COUNT;
      return true;
    }
    case WAITING_PROCESS_ENDED:
      explain_process_end(end_process(process), request_given, &reply->header);
      return true;
    case WAITING_DEADLINE:
      // A process that was stopped from outside is indistinguishable from a slow text.
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
      // No request is pending, so any report of the process, or its end, is a reason to end it.
      int ended = processes[index].process != 0 ? processes[index].ended : -1;
      polled[index + 1] = (struct pollfd){.fd = ended, .events = POLLIN};
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
