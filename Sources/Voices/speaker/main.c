// SPDX-License-Identifier: GPL-3.0-or-later
//
//     speaker [DATA-FOLDER]
//
// Speaks one request after another (protocol.h), each in a separate confined process. DATA-FOLDER is the engine's data,
// if it is not in the engine's default location. The environment affects neither the data nor anything else.

#define _GNU_SOURCE
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine_data.h"
#include "engine_imports.h"
#include "fork_memory.h"
#include "private_memory.h"
#include "protocol.h"
#include "sandbox.h"
#include "utterance.h"
#include "voice_process.h"
#include "voices.h"

enum { EXIT_UNAVAILABLE = 69 };

/// Restarts this program once, with a controlled environment:
/// - LD_BIND_NOW resolves symbols here, once, instead of in every child.
/// - The search path for libraries stays unchanged.
/// - The environment contains nothing else, so that neither the locale nor the data folder nor the allocator's settings
///   come from outside.
static void restart_with_clean_environment(char **arguments) {
  static const char marker[] = "LD_BIND_NOW=1";
  if (environ != NULL && environ[0] != NULL && strcmp(environ[0], marker) == 0) {
    clearenv();
    return;
  }
  char *kept[4] = {(char *)marker};
  int count = 1;
  for (char **entry = environ; entry != NULL && *entry != NULL && count < 3; entry++) {
    if (strncmp(*entry, "LD_LIBRARY_PATH=", 16) == 0 || strncmp(*entry, "LD_PRELOAD=", 11) == 0) kept[count++] = *entry;
  }
  execve("/proc/self/exe", arguments, kept);
  clearenv();  // Without /proc the start is slower, but the sound is the same.
}

/// Sets a known state, whatever the parent process had set.
static void reset_process(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  // A service manager, a terminal or a shell sends these signals to all processes of a service at once. The parent
  // decides when this process ends; until then it continues. Children inherit this.
  const int requests_to_end[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  for (size_t index = 0; index < sizeof requests_to_end / sizeof requests_to_end[0]; index++) {
    signal(requests_to_end[index], SIG_IGN);
  }
  close_range(STDERR_FILENO + 1, ~0U, 0);
  // Orphaned children of a voice process become children of this process, so that they can be waited for.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // PR_SET_PDEATHSIG is not used for this process itself. It would end this process together with the *thread* that
  // started it, which may end earlier in a thread pool. This process ends when its input does. All others end with
  // their parent.
}

/// Sets the locale. Only the character type matters to the engine. Messages stay in "C", for which the C library opens
/// no catalogue.
static bool set_locale(void) {
  return setlocale(LC_ALL, "C") != NULL && setlocale(LC_CTYPE, "C.UTF-8") != NULL;
}

static enum hello_status prepare(const char *data_folder) {
  if (!set_locale() || !engine_initialise(data_folder) || !engine_data_preload(engine_data_folder())) {
    return HELLO_DATA_MISSING;
  }
  if (!engine_imports_are_taken() || !sandbox_prepare() || !protocol_prepare() || !voices_prepare()) {
    return HELLO_SANDBOX_UNAVAILABLE;
  }
  fork_memory_leave_out_libraries(true);
  if (voice_process_can_confine()) return HELLO_READY;
  // On this system, a library that was left out may run in children (fork_memory.h), so no library may be left out.
  fork_memory_leave_out_libraries(false);
  return voice_process_can_confine() ? HELLO_READY : HELLO_SANDBOX_UNAVAILABLE;
}

/// Reads and answers requests until the input ends. Returns the exit status.
static int serve(void) {
  struct request *request = private_memory(sizeof *request);
  if (request == NULL) return EXIT_FAILURE;
  for (;;) {
    if (!request_is_buffered()) voices_wait_for_input();
    enum reading reading = read_request(request);
    if (reading == READING_END) return EXIT_SUCCESS;
    if (reading == READING_TORN) return EXIT_FAILURE;

    struct reply reply = {.header = {.magic = REPLY_MAGIC, .outcome = OUTCOME_REFUSED}};
    reply.header.identifier = request->header.identifier;
    bool acceptable = reading == READING_REQUEST && request_is_acceptable(request);
    if (acceptable && !voices_speak(request, &reply)) return EXIT_SUCCESS;
    if (!write_reply(&reply)) return EXIT_SUCCESS;
    if (reading == READING_MALFORMED) return EXIT_FAILURE;
  }
}

int main(int argument_count, char **arguments) {
  restart_with_clean_environment(arguments);
  reset_process();
  enum hello_status status = prepare(argument_count > 1 ? arguments[1] : NULL);
  uint64_t fingerprint = 0;
  if (status == HELLO_READY && !engine_data_fingerprint(&fingerprint)) status = HELLO_DATA_MISSING;
  if (!write_hello(status, fingerprint, engine_version())) return EXIT_SUCCESS;
  if (status != HELLO_READY) return EXIT_UNAVAILABLE;
  int result = serve();
  voices_end();
  return result;
}
