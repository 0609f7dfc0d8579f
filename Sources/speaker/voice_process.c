// SPDX-License-Identifier: GPL-3.0-or-later

#define _GNU_SOURCE
#include "voice_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_imports.h"
#include "fork_memory.h"
#include "sandbox.h"

// Two: while one speaks, the next is waiting already, and the third is forked once the first has ended.
enum { CHILDREN_AHEAD = 2 };

enum { SAMPLE_BYTES_TOUCHED = 160 * 1024 };  // 3.7 s, a usual announcement

// Exit statuses of a child. The normal one is not 0: the engine's own exit(0) must not pass for a done utterance.
enum { CHILD_SPOKE = 17, CHILD_NOT_CONFINED = 18 };

/// Ends this process when its parent does, also when the parent ended before the call.
static void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(1);
}

_Noreturn static void run_child(struct utterance *utterance, pid_t parent) {
  die_with(parent);
  engine_imports_serve_kept_files_only();
  engine_imports_restart_random();
  fork_memory_touch(utterance->samples, SAMPLE_BYTES_TOUCHED);
  if (!sandbox_enter()) _exit(CHILD_NOT_CONFINED);
  char byte;
  if (read(REQUEST_DESCRIPTOR, &byte, 1) != 1) _exit(1);
  utterance_speak(utterance);
  if (write(DONE_DESCRIPTOR, &byte, 1) != 1) _exit(1);
  _exit(CHILD_SPOKE);
}

static bool fork_child(struct utterance *utterance, pid_t self) {
  pid_t child = fork();
  if (child == 0) run_child(utterance, self);
  return child > 0;
}

static int exit_for(int status, const struct rusage *usage) {
  if (WIFSIGNALED(status)) {
    // The engine does not check for memory it was not given: it crashes. What it had then tells the two apart.
    bool out_of_memory = WTERMSIG(status) != SIGXCPU && usage->ru_maxrss > MEMORY_LIMIT_MEGABYTES * 1024L * 9 / 10;
    return out_of_memory ? VOICE_EXIT_MEMORY_LIMIT : VOICE_EXIT_CHILD_SIGNALLED + WTERMSIG(status);
  }
  return WEXITSTATUS(status) == CHILD_NOT_CONFINED ? VOICE_EXIT_NOT_CONFINED : VOICE_EXIT_CHILD_LEFT;
}

/// Puts the descriptors where the filter expects them and closes all others, the speaker's input and output first.
/// Standard error too leads nowhere: the engine would print parts of texts there.
static bool arrange_descriptors(struct voice_descriptors descriptors) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  int from[FIRST_FREE_DESCRIPTOR] = {nothing, nothing, nothing};
  from[REQUEST_DESCRIPTOR] = descriptors.request;
  from[DONE_DESCRIPTOR] = descriptors.done;
  from[ENDED_DESCRIPTOR] = descriptors.ended;
  for (int index = 0; index < FIRST_FREE_DESCRIPTOR; index++) {
    from[index] = fcntl(from[index], F_DUPFD, FIRST_FREE_DESCRIPTOR);
    if (from[index] < 0) return false;
  }
  for (int index = 0; index < FIRST_FREE_DESCRIPTOR; index++) {
    if (dup2(from[index], index) < 0) return false;
  }
  return close_range(FIRST_FREE_DESCRIPTOR, ~0U, 0) == 0;
}

_Noreturn void voice_process_run(const char *voice, struct voice_descriptors descriptors, struct utterance *utterance,
                                 pid_t speaker) {
  setpgid(0, 0);
  die_with(speaker);
  pid_t self = getpid();
  if (!arrange_descriptors(descriptors)) _exit(VOICE_EXIT_NO_CHILD);
  if (!engine_set_voice(voice)) _exit(VOICE_EXIT_UNKNOWN_VOICE);
  if (!sandbox_limit_inherited()) _exit(VOICE_EXIT_NOT_CONFINED);

  for (int count = 0; count < CHILDREN_AHEAD; count++) {
    if (!fork_child(utterance, self)) _exit(VOICE_EXIT_NO_CHILD);
  }
  for (;;) {
    int status;
    struct rusage usage;
    if (wait4(-1, &status, 0, &usage) < 0) {
      if (errno == EINTR) continue;
      _exit(VOICE_EXIT_NO_CHILD);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_SPOKE) _exit(exit_for(status, &usage));
    if (write(ENDED_DESCRIPTOR, "", 1) != 1 || !fork_child(utterance, self)) _exit(VOICE_EXIT_NO_CHILD);
  }
}

bool voice_process_can_confine(void) {
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) _exit(sandbox_limit_inherited() && sandbox_enter() ? CHILD_SPOKE : CHILD_NOT_CONFINED);
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SPOKE;
}
