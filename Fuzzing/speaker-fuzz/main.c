// SPDX-License-Identifier: GPL-3.0-or-later
//
// Passes libFuzzer's bytes to the speaker's reader of requests, in place of file descriptor 0.

#define _GNU_SOURCE
#include "../../Sources/Voices/speaker/private_memory.c"
#include "../../Sources/Voices/speaker/protocol.c"

#include <stdlib.h>
#include <sys/mman.h>

/// Ends the program if a rule is violated; libFuzzer then keeps the input.
static void require(bool holds) {
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static int input_file = -1;
  if (input_file < 0) {
    input_file = memfd_create("input", 0);
    require(protocol_prepare() && input_file >= 0 && dup2(input_file, STDIN_FILENO) == STDIN_FILENO);
  }
  require(ftruncate(input_file, 0) == 0 && pwrite(input_file, bytes, count, 0) == (ssize_t)count);
  require(lseek(STDIN_FILENO, 0, SEEK_SET) == 0);
  input_begin = input_end = 0;

  static struct request request;
  for (;;) {
    enum reading reading = read_request(&request);
    if (reading == READING_END || reading == READING_TORN || reading == READING_MALFORMED) return 0;
    require(request.header.voice_bytes <= VOICE_BYTES_LIMIT && request.voice[request.header.voice_bytes] == 0);
    require(request.header.text_bytes <= TEXT_BYTES_LIMIT && request.text[request.header.text_bytes] == 0);
    if (!request_is_acceptable(&request)) continue;
    require(strlen(request.text) == request.header.text_bytes);
    require(request.header.rate >= RATE_LEAST && request.header.rate <= RATE_MOST);
    require(request.header.deadline_ms > 0 && request.header.deadline_ms <= DEADLINE_MOST);
  }
}
