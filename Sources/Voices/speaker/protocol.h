// SPDX-License-Identifier: GPL-3.0-or-later
//
// The messages between a client and the speaker: requests on file descriptor 0, replies on 1.
//
// Messages are little-endian and packed. There is one request at a time, and replies come in the order of the requests.
//
//   hello   once, at start
//           u32 magic "CRH1", u32 version = 3, u32 status (enum hello_status),
//           u64 data fingerprint, u32 bytes of the engine's version, then those bytes ("1.51")
//           With a status other than ready, nothing follows and the speaker ends with status 69.
//   request u32 magic "CRQ1", u32 kind (enum request_kind), u64 identifier, u32 rate in words a minute (80 to 450),
//           u32 deadline in ms (1 to 600,000), u32 maximum samples to return, u32 voice bytes (at most 64),
//           u32 text bytes (at most 65,536), then the voice's name, then the text (UTF-8 without NUL)
//   reply   u32 magic "CRP1", u32 outcome (enum outcome), u64 the request's identifier, u32 detail,
//           u32 sample rate in Hz, u64 total samples, u32 stored samples, u32 mark count, u32 phoneme bytes,
//           then mark count x { u32 text position, u32 length, u32 audio position in ms }, then the phoneme text,
//           then stored samples, each a signed 16-bit number, mono
//
// The client draws an identifier for each request, so that it can match the reply with the request.
//
// Positions and lengths of marks count characters (Unicode scalars) of the text; the first has position 0. They are the
// engine's unchanged word events: a word of the engine may be shorter than the word in the text, or extend past a cut.
// Total samples counts everything that was spoken. Stored samples counts what is returned, which is at most the
// requested number and at most SAMPLE_CAPACITY. Speaking stops after LONGEST_SPEECH_SECONDS, so a larger total is never
// reported. Only the outcome "done" has sound, marks or phonemes; after any other the counts are 0.
//
// A header with a wrong magic, or with sizes over the limits, cannot be skipped. It is answered with "refused", and the
// speaker ends with status 1. Every other bad request is answered and the next one is read. At the end of input the
// speaker ends with status 0 between two requests, and with status 1 in the middle of one.

#ifndef SPEAKER_PROTOCOL_H
#define SPEAKER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the protocol's structures are written as they stand in memory, which must be little-endian"
#endif

enum {
  HELLO_MAGIC = 0x31485243,    // "CRH1"
  REQUEST_MAGIC = 0x31515243,  // "CRQ1"
  REPLY_MAGIC = 0x31505243,    // "CRP1"
  PROTOCOL_VERSION = 3,
  VOICE_BYTES_LIMIT = 64,
  TEXT_BYTES_LIMIT = 65536,
  RATE_LEAST = 80,
  RATE_MOST = 450,
  DEADLINE_MOST = 600000,
  SAMPLE_CAPACITY = 40 * 48000,
  LONGEST_SPEECH_SECONDS = 600,
};

enum hello_status {
  HELLO_READY = 0,
  HELLO_DATA_MISSING = 1,         // The engine's data is not installed.
  HELLO_SANDBOX_UNAVAILABLE = 2,  // This kernel cannot confine the children, so nothing is spoken.
};

enum request_kind {
  KIND_SPEAK = 1,
  KIND_PHONEMES = 2,  // The mnemonics that `espeak-ng -q -x` prints; no samples are returned.
};

enum outcome {
  OUTCOME_DONE = 0,
  OUTCOME_VOICE_UNKNOWN = 1,
  OUTCOME_CRASHED = 2,     // The engine failed on the text; detail: the signal, or 0 for another failure.
  OUTCOME_DEADLINE = 3,    // The text takes too long, or its process was stopped from outside (SIGSTOP).
  OUTCOME_REFUSED = 4,     // The request exceeds the limits above.
  OUTCOME_NO_PROCESS = 5,  // No process could be started or confined, for any text; detail: errno.
  OUTCOME_LIMIT = 6,       // The limit of CPU time, memory or phoneme text was reached; detail: the signal, or 0.
  OUTCOME_ENDED = 7,       // The process ended for a reason other than the text, so retry; detail: the signal, or 0.
};

struct __attribute__((packed)) hello {
  uint32_t magic, version, status;
  uint64_t data_fingerprint;
  uint32_t engine_version_bytes;
};

struct __attribute__((packed)) request_header {
  uint32_t magic, kind;
  uint64_t identifier;
  uint32_t rate, deadline_ms, maximum_samples, voice_bytes, text_bytes;
};

struct __attribute__((packed)) reply_header {
  uint32_t magic, outcome;
  uint64_t identifier;
  uint32_t detail, sample_rate;
  uint64_t total_samples;
  uint32_t stored_samples, mark_count, phoneme_bytes;
};

struct __attribute__((packed)) mark {
  uint32_t text_position, length, audio_position_ms;
};

_Static_assert(sizeof(struct hello) == 24, "hello is 24 bytes and the version's text");
_Static_assert(sizeof(struct request_header) == 36, "a request's header is 36 bytes");
_Static_assert(sizeof(struct reply_header) == 44, "a reply's header is 44 bytes");
_Static_assert(sizeof(struct mark) == 12, "a mark is 12 bytes");

struct request {
  struct request_header header;
  char voice[VOICE_BYTES_LIMIT + 1];
  char text[TEXT_BYTES_LIMIT + 1];
};

/// A reply whose parts belong to the caller.
struct reply {
  struct reply_header header;
  const struct mark *marks;
  const char *phonemes;
  const int16_t *samples;
};

/// Allocates the memory for reading requests. Returns false when there is none.
bool protocol_prepare(void);

enum reading { READING_REQUEST, READING_END, READING_TORN, READING_MALFORMED };

/// Waits for the next request on file descriptor 0. `voice` and `text` end in NUL. READING_TORN: the input ended in the
/// middle of a request. READING_MALFORMED: the request cannot be skipped.
enum reading read_request(struct request *request);

/// Returns whether bytes that were already read wait for read_request().
bool request_is_buffered(void);

/// Returns whether a request is valid: kind, rate and deadline in range, and text that is UTF-8 without NUL.
bool request_is_acceptable(const struct request *request);

/// Writes a reply to file descriptor 1. Returns false when the reader is gone.
bool write_hello(enum hello_status status, uint64_t data_fingerprint, const char *engine_version);
bool write_reply(const struct reply *reply);

#endif
