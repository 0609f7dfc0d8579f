// SPDX-License-Identifier: GPL-3.0-or-later
//
// The dynamic linker finds the program's functions before the C library's. This file replaces four kinds:
//
// - Files: the engine opens the dictionary of another language in the middle of a text, but a confined child cannot
//   open files. In a child these functions serve the kept files. In other processes they behave as usual.
// - Programs: the engine can start mbrola and sox. No process here should ever start either.
// - The sound card: the engine creates an audio device when it starts, even if it never uses one. That would contact a
//   sound server, create folders in the user's home, and hang together with a server that hangs.
// - rand(): the engine draws a random number for most samples. The C library's function takes a lock each time, which
//   takes a sixth of a child's time. Other code could also draw numbers from it. This file's function returns the same
//   numbers.

#define _GNU_SOURCE
#include "engine_imports.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine_data.h"

#define INTERPOSED __attribute__((visibility("default"), used))

static bool serving_kept_only;
static unsigned long calls;

void engine_imports_serve_kept_files_only(void) { serving_kept_only = true; }
bool engine_imports_are_taken(void) { return calls > 0; }

static FILE *open_kept(const char *path, const char *mode) {
  const char *contents;
  uint64_t size;
  if (mode[0] != 'r' || strchr(mode, '+') != NULL || !engine_data_find_kept(path, &contents, &size)) {
    errno = ENOENT;
    return NULL;
  }
  return fmemopen((void *)contents, size, "r");
}

static bool size_of_kept(const char *path, uint64_t *size) {
  const char *contents;
  if (engine_data_find_kept(path, &contents, size)) return true;
  errno = ENOENT;
  return false;
}

/// Returns the C library's own function of that name. POSIX permits the conversion, which ISO C leaves undefined.
static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

INTERPOSED FILE *fopen(const char *restrict path, const char *restrict mode) {
  if (serving_kept_only) return open_kept(path, mode);
  static FILE *(*original)(const char *, const char *);
  if (original == NULL) *(void **)&original = next("fopen");
  calls++;
  return original(path, mode);
}

/// The engine requests a device. In the mode used here it never uses the device.
INTERPOSED void *create_audio_device_object(const char *device, const char *application, const char *description) {
  (void)device, (void)application, (void)description;
  return NULL;
}

INTERPOSED FILE *fopen64(const char *restrict path, const char *restrict mode) { return fopen(path, mode); }

INTERPOSED int stat(const char *restrict path, struct stat *restrict status) {
  if (!serving_kept_only) return fstatat(AT_FDCWD, path, status, 0);
  uint64_t size;
  if (!size_of_kept(path, &size)) return -1;
  *status = (struct stat){.st_mode = S_IFREG | 0444, .st_nlink = 1, .st_size = (off_t)size};
  return 0;
}

INTERPOSED int stat64(const char *restrict path, struct stat64 *restrict status) {
  if (!serving_kept_only) return fstatat64(AT_FDCWD, path, status, 0);
  uint64_t size;
  if (!size_of_kept(path, &size)) return -1;
  *status = (struct stat64){.st_mode = S_IFREG | 0444, .st_nlink = 1, .st_size = (off64_t)size};
  return 0;
}

INTERPOSED int execlp(const char *program, const char *argument, ...) {
  (void)program, (void)argument;
  errno = EACCES;
  return -1;
}

INTERPOSED int system(const char *command) {
  (void)command;
  errno = EACCES;
  return -1;
}

static struct random_data random_numbers;

void engine_imports_restart_random(void) {
  static char state[128];  // The size and the initial seed of rand().
  random_numbers = (struct random_data){0};
  initstate_r(1, state, sizeof state, &random_numbers);
}

INTERPOSED int rand(void) {
  int32_t number;
  if (random_numbers.state == NULL) engine_imports_restart_random();
  random_r(&random_numbers, &number);
  return number;
}
