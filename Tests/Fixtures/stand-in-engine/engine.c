// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for libespeak-ng. A test uses it to see what a child process can do when a text has taken it over.
//
// It has the functions that the speaker calls, in the form of espeak-ng's interface. It also has some functions of the
// C library, which replace the library's own functions in the speaker. The sound of a text has 220 samples for each
// byte, each with a hundred times the value of the byte. A text that begins with "child: " also says what the child
// does. Two voices say what the system refuses.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The memory that the speaker and its children share, and the descriptors between them
// (Sources/Voices/speaker/utterance.h, protocol.h).
struct memory {
  struct {
    uint32_t kind, rate, maximum_samples, text_bytes;
    char text[65536 + 1];
  } request;
  struct {
    int32_t engine_error;
    uint32_t sample_rate;
    uint64_t total_samples;
    uint32_t stored_samples, mark_count, phoneme_bytes, phonemes_cut;
  } result;
  uint32_t marks[65536][3];
  char phonemes[1 << 20];
  int16_t samples[40 * 48000] __attribute__((aligned(4096)));
};
enum { REQUESTS = 3, ANSWERS = 4, NONCE_BYTES = 16, SPOKE = 17, NOT_CONFINED = 18, SAMPLES_A_BYTE = 220 };

typedef struct {
  int type;
  unsigned int unique_identifier;
  int text_position, length, audio_position, sample;
  void *user_data;
  union {
    int number;
    const char *name;
    char string[8];
  } id;
} event;
typedef int callback(short *, int, event *);

static callback *collect;
static struct memory *own;
static unsigned char nonce[NONCE_BYTES];
static const char *deed = "";
static int no_processes, no_confinement;

/// The facts that a voice process reports about its children, and that a child reports about the next request. The
/// speaker reads them.
static volatile struct {
  int is_last_request;  // Whether the children of the voice process end before they get another request.
  int fork_count;
  pid_t voice_process, children[2];  // The children that wait for a request or have one.
} *shared;
static int is_voice_process;

static int does(const char *name) { return strcmp(deed, name) == 0; }
static long say(const void *bytes, size_t count) { return syscall(SYS_write, ANSWERS, bytes, count); }
_Noreturn static void end(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

int espeak_Initialize(int output, int length, const char *path, int options) {
  (void)output, (void)length, (void)path, (void)options;
  FILE *file = fopen("/dev/null", "r");
  if (file != NULL) fclose(file);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  return 22050;
}

const void **espeak_ListVoices(const void *wanted) {
  static const void *none[] = {NULL};
  (void)wanted;
  return none;
}

const char *espeak_Info(const char **path) {
  if (path != NULL) *path = DATA_FOLDER;
  return "1.51 stand-in";
}

int espeak_SetVoiceByName(const char *name) {
  if (name == NULL) return 1;
  no_processes = strcmp(name, "without-processes") == 0;
  no_confinement = strcmp(name, "without-confinement") == 0;
  is_voice_process = 1;
  return 0;
}
const void *espeak_GetCurrentVoice(void) {
  static const char *const voice[] = {"en", "en", "en"};
  return voice;
}
void espeak_SetPhonemeTrace(int mode, FILE *stream) { (void)mode, (void)stream; }
void espeak_SetSynthCallback(callback *function) { collect = function; }
int espeak_SetParameter(int parameter, int value, int relative) {
  (void)parameter, (void)value, (void)relative;
  return 0;
}

static void speak(const char *text) {
  for (; *text != 0; text++) {
    short wave[SAMPLES_A_BYTE];
    for (int index = 0; index < SAMPLES_A_BYTE; index++) wave[index] = (short)(100 * (unsigned char)*text);
    event none = {0};
    collect(wave, SAMPLES_A_BYTE, &none);
  }
  event none = {0};
  collect(NULL, 0, &none);
}

/// Returns whether somebody else left a byte in the memory behind the text of the request. The result does not count.
static int found_something(void) {
  const char *begin = (const char *)own, *text = own->request.text;
  for (size_t offset = sizeof own->request - sizeof own->request.text + strlen(text); offset < sizeof *own; offset++) {
    size_t result = (size_t)((const char *)&own->result - begin);
    if (begin[offset] != 0 && (offset < result || offset >= result + sizeof own->result)) return 1;
  }
  return 0;
}

int espeak_Synth(const char *text, size_t size, unsigned position, int type, unsigned end_position, unsigned flags,
                 unsigned *identifier, void *user_data) {
  (void)size, (void)position, (void)type, (void)end_position, (void)flags, (void)identifier, (void)user_data;
  own = (struct memory *)(void *)(text - 16);  // The text is at this offset in the memory, which begins on a page.
  static const char prefix[] = "child: ";
  if (strncmp(text, prefix, sizeof prefix - 1) == 0) deed = text + sizeof prefix - 1;

  if (does("is the last one of its voice process")) shared->is_last_request = 1;
  if (does("answers with a byte before its answer")) say("x", 1);
  if (does("answers twice")) say(nonce, sizeof nonce);
  if (does("answers with a number of its own")) say("0123456789abcdef", NONCE_BYTES), end(SPOKE);
  if (does("ends without an answer")) end(SPOKE);
  if (does("ends as one that is not confined")) end(NOT_CONFINED);
  if (does("answers half")) say(nonce, NONCE_BYTES / 2), end(SPOKE);
  if (does("fills the pipe")) for (;;) say(nonce, sizeof nonce);
  if (does("ignores the limit of its processor time")) signal(SIGXCPU, SIG_IGN), deed = "never ends";
  if (does("never ends")) for (;;) __asm__ volatile("");
  if (does("reads the next request")) syscall(SYS_read, REQUESTS, nonce, sizeof nonce);
  if (does("opens a file")) syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
  if (does("reads what is not its own")) syscall(SYS_read, 5, nonce, sizeof nonce);
  if (does("makes another child")) syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (does("ends its parent")) syscall(SYS_kill, getppid(), SIGKILL);
  if (does("writes beyond its memory")) memset((char *)own - sizeof *own, 'x', 3 * sizeof *own);
  if (does("uses all memory and aborts")) {
    for (;;) {
      char *volatile block = malloc(1 << 20);  // volatile, or the compiler leaves all of this out
      if (block == NULL) abort();
      memset(block, 'x', 1 << 20);
    }
  }
  if (does("writes to everybody")) {
    for (int descriptor = 0; descriptor < 64; descriptor++) {
      if (descriptor != ANSWERS) syscall(SYS_write, descriptor, nonce, sizeof nonce);
    }
  }
  speak(does("looks for what others left") ? (found_something() ? "found" : "nothing") : text);
  if (does("leaves something everywhere")) {
    memset(own->marks, 'x', sizeof own->marks);
    memset(own->phonemes, 'x', sizeof own->phonemes);
    memset((char *)own->samples + sizeof own->samples / 2, 'x', sizeof own->samples / 2);
  }
  if (does("claims more than there is")) own->result.stored_samples = own->result.mark_count = 0x7FFFFFFF;
  return does("reports an error of the engine") ? -1 : 0;
}

// These functions replace calls of the speaker. A child that a text has taken over decides what they do.

ssize_t read(int descriptor, void *bytes, size_t count) {
  ssize_t got = syscall(SYS_read, descriptor, bytes, count);
  if (descriptor == REQUESTS && got == NONCE_BYTES) memcpy(nonce, bytes, sizeof nonce);
  return got;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  ssize_t written = syscall(SYS_write, descriptor, bytes, count);
  if (own == NULL || descriptor != ANSWERS) return written;
  if (does("answers with a byte behind its answer")) say("x", 1);
  if (does("reports an error behind its answer")) own->result.engine_error = 1;
  if (does("crashes behind its answer")) *(volatile int *)8 = 0;
  if (does("lives on and answers for others")) {
    while (syscall(SYS_read, REQUESTS, nonce, sizeof nonce) > 0) say(nonce, sizeof nonce);
  }
  if (does("lives on and writes over what comes")) {
    for (;;) {
      volatile int16_t *samples = own->samples;
      for (int index = 0; index < 22050; index++) samples[index] = 30000;
      own->result.stored_samples = 22050;
      own->result.total_samples = 22050;
    }
  }
  return written;
}

pid_t fork(void) {
  if (no_processes) {
    errno = EAGAIN;
    return -1;
  }
  pid_t child = _Fork();
  if (child > 0 && is_voice_process) {
    shared->voice_process = getpid();
    shared->children[shared->fork_count % 2] = child;
    shared->fork_count++;
  }
  return child;
}

static void wait_for_end(pid_t process) {
  siginfo_t info;
  while (waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

/// The speaker draws a number for each request, when it has seen that all is well and before a child has the request.
ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
  if (shared != NULL && shared->is_last_request) {
    shared->is_last_request = 0;
    // There are two children at first, and then a third in place of the one that had the earlier request.
    while (shared->fork_count < 3) sched_yield();
    for (int index = 0; index < 2; index++) kill(shared->children[index], SIGKILL);
    wait_for_end(shared->voice_process);
    for (int index = 0; index < 2; index++) wait_for_end(shared->children[index]);
  }
  return syscall(SYS_getrandom, bytes, count, flags);
}

int prctl(int option, ...) {
  unsigned long arguments[4];
  va_list list;
  va_start(list, option);
  for (int index = 0; index < 4; index++) arguments[index] = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP && no_confinement) {
    errno = EPERM;
    return -1;
  }
  return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
