// SPDX-License-Identifier: GPL-3.0-or-later

#include "protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "private_memory.h"

// The buffer is as long as the longest request, so that one read takes a complete request and the copies stay short.
enum { INPUT_BYTES = sizeof(struct request_header) + VOICE_BYTES_LIMIT + TEXT_BYTES_LIMIT };
static char *input;
static size_t input_begin, input_end;

bool protocol_prepare(void) {
  input = private_memory(INPUT_BYTES);
  return input != NULL;
}

bool request_is_buffered(void) { return input_begin < input_end; }

/// Reads `count` bytes from the input. Returns the number of bytes read, which is smaller at the end of the input.
static size_t take(void *bytes, size_t count) {
  size_t taken = 0;
  while (taken < count) {
    if (input_begin == input_end) {
      ssize_t got = read(STDIN_FILENO, input, INPUT_BYTES);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      input_begin = 0;
      input_end = (size_t)got;
    }
    size_t present = input_end - input_begin;
    size_t part = count - taken < present ? count - taken : present;
    memcpy((char *)bytes + taken, input + input_begin, part);
    input_begin += part;
    taken += part;
  }
  return taken;
}

enum reading read_request(struct request *request) {
  struct request_header *header = &request->header;
  size_t taken = take(header, sizeof *header);
  if (taken == 0) return READING_END;
  if (taken < sizeof *header) return READING_TORN;
  if (header->magic != REQUEST_MAGIC || header->voice_bytes > VOICE_BYTES_LIMIT ||
      header->text_bytes > TEXT_BYTES_LIMIT) {
    return READING_MALFORMED;
  }
  if (take(request->voice, header->voice_bytes) < header->voice_bytes) return READING_TORN;
  if (take(request->text, header->text_bytes) < header->text_bytes) return READING_TORN;
  request->voice[header->voice_bytes] = 0;
  request->text[header->text_bytes] = 0;
  return READING_REQUEST;
}

/// Returns the length of the well-formed UTF-8 sequence at `bytes` (Unicode Standard, table 3-7), or 0 when there is
/// none.
static size_t utf8_sequence(const unsigned char *bytes, size_t count) {
  unsigned char first = bytes[0];
  if (first < 0x80) return first == 0 ? 0 : 1;
  size_t length = first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3
                : first >= 0xF0 && first <= 0xF4 ? 4 : 0;
  if (length == 0 || length > count) return 0;
  unsigned char least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (bytes[1] < least || bytes[1] > most) return 0;
  for (size_t index = 2; index < length; index++) {
    if ((bytes[index] & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool request_is_acceptable(const struct request *request) {
  const struct request_header *header = &request->header;
  if (header->kind != KIND_SPEAK && header->kind != KIND_PHONEMES) return false;
  if (header->rate < RATE_LEAST || header->rate > RATE_MOST) return false;
  if (header->deadline_ms == 0 || header->deadline_ms > DEADLINE_MOST) return false;
  for (size_t index = 0; index < header->text_bytes;) {
    size_t length = utf8_sequence((const unsigned char *)request->text + index, header->text_bytes - index);
    if (length == 0) return false;
    index += length;
  }
  return true;
}

static bool write_parts(struct iovec *parts, int count) {
  while (count > 0) {
    if (parts->iov_len == 0) {
      parts++;
      count--;
      continue;
    }
    ssize_t written = writev(STDOUT_FILENO, parts, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    for (size_t left = (size_t)written; left > 0;) {
      size_t part = left < parts->iov_len ? left : parts->iov_len;
      parts->iov_base = (char *)parts->iov_base + part;
      parts->iov_len -= part;
      left -= part;
      if (parts->iov_len == 0 && left > 0) {
        parts++;
        count--;
      }
    }
  }
  return true;
}

bool write_hello(enum hello_status status, uint64_t data_fingerprint, const char *engine_version) {
  struct hello hello = {
      .magic = HELLO_MAGIC,
      .version = PROTOCOL_VERSION,
      .status = status,
      .data_fingerprint = data_fingerprint,
      .engine_version_bytes = (uint32_t)strlen(engine_version),
  };
  struct iovec parts[] = {{&hello, sizeof hello}, {(char *)engine_version, hello.engine_version_bytes}};
  return write_parts(parts, 2);
}

bool write_reply(const struct reply *reply) {
  const struct reply_header *header = &reply->header;
  struct iovec parts[] = {
      {(void *)header, sizeof *header},
      {(void *)reply->marks, header->mark_count * sizeof *reply->marks},
      {(void *)reply->phonemes, header->phoneme_bytes},
      {(void *)reply->samples, header->stored_samples * sizeof *reply->samples},
  };
  return write_parts(parts, 4);
}
