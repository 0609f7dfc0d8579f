// SPDX-License-Identifier: Apache-2.0

@testable import SpeechEngine

/// Checks that a message from the speaker program is refused, or announces no more than a speaker may send.
enum SpeakerReplyReading {
  @Sendable static func check(_ bytes: [UInt8]) {
    if let hello = SpeakerMessages.Hello(bytes) {
      require((0...64).contains(hello.versionBytes), "an engine's version is short")
    }
    let header = Array(bytes.prefix(SpeakerMessages.replyHeaderBytes))
    guard let reply = SpeakerMessages.ReplyHeader(header) else { return }
    require(reply.storedSamples >= 0 && reply.storedSamples <= 1 << 24, "samples are bounded")
    require(reply.markCount >= 0 && reply.markCount <= 1 << 20, "word events are bounded")
    require(reply.phonemeBytes >= 0 && reply.phonemeBytes <= 1 << 24, "phonemes are bounded")
    let marks = Array(
      bytes.dropFirst(SpeakerMessages.replyHeaderBytes).prefix(reply.markCount * SpeakerMessages.markBytes))
    require(SpeakerMessages.words(marks).count == marks.count / SpeakerMessages.markBytes, "each mark is a word event")
  }
}
