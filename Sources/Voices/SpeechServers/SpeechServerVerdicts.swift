// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation

/// The result of `crier voices test` for the voice of a speech server. A verdict holds for one locale and one version
/// of the voice: another version may read the same words differently.
public struct SpeechServerVerdict: Sendable, Hashable, Codable {
  /// The id of the server in the settings.
  public var server: String
  /// The program, the voice and their versions, as ``SpeechServerDescription/identity(of:)`` writes them.
  public var identity: String
  /// The locale as a BCP 47 tag.
  public var locale: String
  /// Whether the voice may say amounts.
  public var isPassed: Bool
  public var testedAt: Date
  /// What was measured, and what could not be measured, as sentences for people.
  public var findings: [String]
  /// The lengths of the sounds of amounts, as ratios to the expected length; nil if no length was measured.
  public var amountLengths: ClosedRange<Double>?

  public init(
    server: String, identity: String, locale: String, isPassed: Bool, testedAt: Date, findings: [String] = [],
    amountLengths: ClosedRange<Double>? = nil
  ) {
    self.server = server
    self.identity = identity
    self.locale = locale
    self.isPassed = isPassed
    // The time is rounded, so that it is still the same after the verdict was stored and read.
    self.testedAt = Date(timeIntervalSince1970: testedAt.timeIntervalSince1970.rounded(.down))
    self.findings = findings
    self.amountLengths = amountLengths
  }

  private enum CodingKeys: String, CodingKey {
    case server, identity, locale, findings
    case isPassed = "passed"
    case testedAt = "tested_at"
    case amountLengths = "amount_lengths"
  }
}

/// The verdicts on the voices of speech servers, in a file of the home folder.
public struct SpeechServerVerdicts: Sendable {
  private struct Content: Codable { var verdicts: [SpeechServerVerdict] }

  /// The largest file that is read, in bytes. A verdict has about 1,000 bytes.
  private static let mostBytes = 1 << 20

  private let file: URL

  public init(file: URL) { self.file = file }

  /// Returns all verdicts. If the file is missing or cannot be read, the result is empty, and the voices count as
  /// untested.
  ///
  /// The file is read at each call, so that the verdict of another process applies to the next announcement. Reading
  /// takes far less time than any server needs to speak.
  public func all() -> [SpeechServerVerdict] {
    guard let data = FileManager.default.contents(atPath: file.path(percentEncoded: false)),
      data.count <= Self.mostBytes
    else { return [] }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return (try? decoder.decode(Content.self, from: data))?.verdicts ?? []
  }

  /// Returns the verdict on a voice; nil if this version of the voice was not tested in this locale.
  public func verdict(on server: String, identity: String, locale: String) -> SpeechServerVerdict? {
    all().first {
      $0.server == server && $0.identity == identity && $0.locale.lowercased() == locale.lowercased()
    }
  }

  /// Stores a verdict in place of earlier ones on the same server and locale. Two tests that end at the same time wait
  /// for each other, so that neither loses the verdict of the other.
  ///
  /// - Throws: Errors of the file system, and an error if another process holds the lock for 10 s. The file is then
  ///   unchanged.
  public func store(_ verdict: SpeechServerVerdict) throws {
    guard let lock = try LockedFile(file.appendingPathExtension("lock"), patience: 10) else {
      throw CocoaError(
        .fileWriteUnknown,
        userInfo: [
          NSLocalizedDescriptionKey: "Another test of a voice is storing its verdict. Run the test again."
        ])
    }
    try withExtendedLifetime(lock) {
      var verdicts = all().filter {
        $0.server != verdict.server || $0.locale.lowercased() != verdict.locale.lowercased()
      }
      verdicts.append(verdict)
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
      try DurableFile.write(try encoder.encode(Content(verdicts: verdicts)), to: file)
    }
  }
}
