// SPDX-License-Identifier: Apache-2.0

/// The messages to and from the speaker program, as bytes. `Sources/Voices/speaker/protocol.h` defines their meaning.
///
/// The type only encodes and decodes; it does not read or write.
enum SpeakerMessages {
  static let helloBytes = 24
  static let replyHeaderBytes = 44
  static let markBytes = 12

  enum Kind: UInt32 {
    case speak = 1
    case phonemes = 2
  }

  enum Outcome: UInt32 {
    case done, voiceUnknown, crashed, deadline, refused, noProcess, limit, ended
  }

  struct Hello {
    var isReady: Bool
    var isDataMissing: Bool
    var dataFingerprint: UInt64
    var versionBytes: Int

    /// Decodes a greeting.
    ///
    /// - Returns: `nil` when the bytes are not the greeting of a speaker of this version.
    init?(_ bytes: [UInt8]) {
      var fields = LittleEndianFields(bytes)
      guard bytes.count == helloBytes, fields.next() == 0x3148_5243 as UInt32, fields.next() == 3 as UInt32 else {
        return nil
      }
      let status: UInt32 = fields.next()
      isReady = status == 0
      isDataMissing = status == 1
      dataFingerprint = fields.next()
      versionBytes = Int(fields.next() as UInt32)
      guard versionBytes <= 64 else { return nil }
    }
  }

  struct ReplyHeader {
    var outcome: Outcome
    /// The identifier of the request that the reply answers.
    var identifier: UInt64
    /// The number of the signal that ended a child process, or an error number.
    var detail: UInt32
    var sampleRate: Int
    var totalSamples: Int
    var storedSamples: Int
    var markCount: Int
    var phonemeBytes: Int

    /// Decodes the header of a reply.
    ///
    /// - Returns: `nil` when the bytes are not a reply, or announce more than a speaker may send.
    init?(_ bytes: [UInt8]) {
      var fields = LittleEndianFields(bytes)
      guard bytes.count == replyHeaderBytes, fields.next() == 0x3150_5243 as UInt32,
        let outcome = Outcome(rawValue: fields.next())
      else { return nil }
      self.outcome = outcome
      identifier = fields.next()
      detail = fields.next()
      sampleRate = Int(fields.next() as UInt32)
      let total: UInt64 = fields.next()
      storedSamples = Int(fields.next() as UInt32)
      markCount = Int(fields.next() as UInt32)
      phonemeBytes = Int(fields.next() as UInt32)
      guard total <= 1 << 40, storedSamples <= 1 << 24, markCount <= 1 << 20, phonemeBytes <= 1 << 24 else {
        return nil
      }
      totalSamples = Int(total)
    }
  }

  /// Encodes a request.
  ///
  /// - Parameter identifier: a number for this request, which its reply repeats.
  static func request(
    _ kind: Kind, _ utterance: Utterance, identifier: UInt64, deadlineMilliseconds: Int, maximumSamples: Int
  ) -> [UInt8] {
    let voice = Array(utterance.voice.utf8)
    let text = Array(utterance.text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36 + voice.count + text.count)
    for field in [
      0x3151_5243, kind.rawValue, UInt32(truncatingIfNeeded: identifier), UInt32(truncatingIfNeeded: identifier >> 32),
      UInt32(clamping: utterance.rate), UInt32(clamping: deadlineMilliseconds), UInt32(clamping: maximumSamples),
      UInt32(clamping: voice.count), UInt32(clamping: text.count),
    ] as [UInt32] {
      for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: field >> shift)) }
    }
    return bytes + voice + text
  }

  static func words(_ bytes: [UInt8]) -> [Speech.Word] {
    var fields = LittleEndianFields(bytes)
    return (0..<bytes.count / markBytes).map { _ in
      let position: UInt32 = fields.next()
      let length: UInt32 = fields.next()
      return Speech.Word(
        textPosition: Int(position), length: Int(length), startMilliseconds: Int(fields.next() as UInt32))
    }
  }
}

/// Reads consecutive little-endian integers.
private struct LittleEndianFields {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the next integer.
  ///
  /// - Precondition: enough bytes remain. Callers check this with the total number of bytes.
  mutating func next<Field: FixedWidthInteger>() -> Field {
    let width = Field.bitWidth / 8
    defer { position += width }
    return (0..<width).reduce(into: 0) { field, index in
      field |= Field(truncatingIfNeeded: bytes[position + index]) << (8 * index)
    }
  }
}
