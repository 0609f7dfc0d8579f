// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "voice_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_imports.h"
#include "fork_memory.h"
#include "sandbox.h"

// The descriptors of a voice process: its own pipe, then two for each channel.
enum { ENDED_DESCRIPTOR = CHILD_DESCRIPTORS, FIRST_CHANNEL_DESCRIPTOR };
_Static_assert(FIRST_CHANNEL_DESCRIPTOR + 2 * CHANNEL_COUNT == VOICE_DESCRIPTORS, "a voice process needs so many");

enum { SAMPLE_BYTES_TOUCHED = 160 * 1024 };  // 3.7 s, the length of a usual announcement.

// The exit statuses of a child. The normal one is not 0, so that the engine's own exit(0) does not count as success.
enum { CHILD_EXIT_SPOKE = 17, CHILD_EXIT_NOT_CONFINED = 18 };

/// Ends this process when its parent ends, even if the parent ended before the call.
static void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(1);
}

static int request_descriptor(int channel) { return FIRST_CHANNEL_DESCRIPTOR + 2 * channel; }
static int done_descriptor(int channel) { return request_descriptor(channel) + 1; }

/// Leaves this child only its own channel. The memory of the other channels is not even mapped.
static bool keep_only(const struct channel *channels, int own) {
  for (int index = 0; index < CHANNEL_COUNT; index++) {
    if (index != own && munmap(channels[index].utterance, sizeof *channels[index].utterance) != 0) return false;
  }
  return dup2(request_descriptor(own), REQUEST_DESCRIPTOR) >= 0 && dup2(done_descriptor(own), DONE_DESCRIPTOR) >= 0 &&
         close_range(CHILD_DESCRIPTORS, ~0U, 0) == 0;
}

_Noreturn static void run_child(const struct channel *channels, int own, pid_t parent) {
  struct utterance *utterance = channels[own].utterance;
  die_with(parent);
  if (!keep_only(channels, own)) _exit(CHILD_EXIT_NOT_CONFINED);
  engine_imports_serve_kept_files_only();
  engine_imports_restart_random();
  fork_memory_touch(utterance->samples, SAMPLE_BYTES_TOUCHED);
  if (!sandbox_enter()) _exit(CHILD_EXIT_NOT_CONFINED);
  struct nonce nonce;
  if (read(REQUEST_DESCRIPTOR, &nonce, sizeof nonce) != sizeof nonce) _exit(1);
  utterance_speak(utterance);
  if (write(DONE_DESCRIPTOR, &nonce, sizeof nonce) != sizeof nonce) _exit(1);
  _exit(CHILD_EXIT_SPOKE);
}

static pid_t fork_child(const struct channel *channels, int own, pid_t self) {
  pid_t child = fork();
  if (child == 0) run_child(channels, own, self);
  return child;
}

static struct child_report report_of(unsigned char channel, int status, const struct rusage *usage) {
  struct child_report report = {.channel = channel, .end = CHILD_END_LEFT};
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    // A process that ignores SIGXCPU is killed a second later. The text is the cause of that, too.
    long cpu_seconds = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;
    if (signal == SIGKILL && cpu_seconds >= CPU_LIMIT_SECONDS) signal = SIGXCPU;
    // The engine crashes if it gets no memory, because it does not check. Its memory use at that moment distinguishes
    // this crash from others.
    bool out_of_memory = (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGTRAP ||
                          signal == SIGABRT) &&
                         usage->ru_maxrss > MEMORY_LIMIT_MEGABYTES * 1024L * 9 / 10;
    report.end = out_of_memory ? CHILD_END_MEMORY_LIMIT : CHILD_END_SIGNAL;
    report.signal = (unsigned char)signal;
  } else if (WEXITSTATUS(status) == CHILD_EXIT_SPOKE) {
    report.end = CHILD_END_SPOKE;
  } else if (WEXITSTATUS(status) == CHILD_EXIT_NOT_CONFINED) {
    report.end = CHILD_END_NOT_CONFINED;
  }
  return report;
}

/// Moves the descriptors to their places and closes all others, the speaker's input and output first. Standard error is
/// connected to /dev/null, because the engine would print parts of texts there. A child's two descriptors are connected
/// to /dev/null until the child has its channel.
static bool arrange_descriptors(const struct channel *channels, int ended) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  int from[VOICE_DESCRIPTORS] = {nothing, nothing, nothing, nothing, nothing, ended};
  for (int index = 0; index < CHANNEL_COUNT; index++) {
    from[request_descriptor(index)] = channels[index].request;
    from[done_descriptor(index)] = channels[index].done;
  }
  for (int index = 0; index < VOICE_DESCRIPTORS; index++) {
    from[index] = fcntl(from[index], F_DUPFD, VOICE_DESCRIPTORS);
    if (from[index] < 0) return false;
  }
  for (int index = 0; index < VOICE_DESCRIPTORS; index++) {
    if (dup2(from[index], index) < 0) return false;
  }
  return close_range(VOICE_DESCRIPTORS, ~0U, 0) == 0;
}

_Noreturn void voice_process_run(const char *voice, const struct channel *channels, int ended, pid_t speaker) {
  setpgid(0, 0);
  die_with(speaker);
  pid_t self = getpid();
  if (!arrange_descriptors(channels, ended)) _exit(VOICE_EXIT_NO_CHILD);
  if (!engine_set_voice(voice)) _exit(VOICE_EXIT_UNKNOWN_VOICE);
  if (!sandbox_limit_inherited()) _exit(VOICE_EXIT_NOT_CONFINED);

  pid_t children[CHANNEL_COUNT];
  for (int index = 0; index < CHANNEL_COUNT; index++) {
    children[index] = fork_child(channels, index, self);
    if (children[index] < 0) _exit(VOICE_EXIT_NO_CHILD);
  }
  for (;;) {
    int status;
    struct rusage usage;
    pid_t child = wait4(-1, &status, 0, &usage);
    if (child < 0) {
      if (errno == EINTR) continue;
      _exit(VOICE_EXIT_NO_CHILD);
    }
    unsigned char channel = 0;
    while (channel < CHANNEL_COUNT && children[channel] != child) channel++;
    if (channel == CHANNEL_COUNT) _exit(VOICE_EXIT_NO_CHILD);
    struct child_report report = report_of(channel, status, &usage);
    if (write(ENDED_DESCRIPTOR, &report, sizeof report) != sizeof report) _exit(VOICE_EXIT_NO_CHILD);
    if (report.end != CHILD_END_SPOKE) _exit(VOICE_EXIT_CHILD_FAILED);
    children[channel] = fork_child(channels, channel, self);
    if (children[channel] < 0) _exit(VOICE_EXIT_NO_CHILD);
  }
}

bool voice_process_can_confine(void) {
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) _exit(sandbox_limit_inherited() && sandbox_enter() ? CHILD_EXIT_SPOKE : CHILD_EXIT_NOT_CONFINED);
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == CHILD_EXIT_SPOKE;
}
