// SPDX-License-Identifier: Apache-2.0

#include <alsa/asoundlib.h>

// The handler takes variable arguments, which Swift cannot define.
static void crier_alsa_says_nothing(const char *file, int line, const char *function, int error, const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}

// Stops libasound from writing messages to standard error, which belongs to the caller. The same errors are returned as
// codes.
static inline void crier_alsa_silence(void) { (void)snd_lib_error_set_handler(crier_alsa_says_nothing); }
