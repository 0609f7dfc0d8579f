// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Playback
import ToneMaking
import Waveforms

/// The sounds that an operator names as chimes: a file, one of Crier's own tones as `tone:NAME`, and for a kind of
/// payments also `none`.
struct ChimeSounds {
  /// The descriptions of Crier's own tones.
  let tones: ToneDescriptions

  static let none = "none"
  private static let toneMark = "tone:"

  static var rule: String {
    let kinds = Payment.Kind.allCases.map(\.rawValue).joined(separator: ", ")
    return
      "give a kind and its sound, with commas between them, such as refunded=tone:falling,failed=none; the kinds are "
      + "\(kinds), and a sound is a file, tone:NAME or none"
  }

  /// Returns the sound of each kind in a text such as `refunded=tone:falling,failed=none`; nil if the text is not
  /// valid. A kind must not occur twice.
  static func choices(in text: String) -> [Payment.Kind: String]? {
    var choices: [Payment.Kind: String] = [:]
    for entry in text.split(separator: ",", omittingEmptySubsequences: !text.contains { $0 != " " }) {
      let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2, !parts[1].isEmpty, let kind = Payment.Kind(rawValue: parts[0]), choices[kind] == nil
      else {
        return nil
      }
      choices[kind] = parts[1]
    }
    return choices
  }

  /// Returns the chime of a text; nil for an empty one.
  ///
  /// - Throws: `PlayableFileError`, `ToneError`.
  func chime(_ text: String) throws -> Waveform? {
    if text.isEmpty { return nil }
    guard text.hasPrefix(Self.toneMark) else { return try PlayableFile.chime(of: URL(filePath: text)) }
    let tone = try MadeTone(String(text.dropFirst(Self.toneMark.count)), from: tones)
    return try PlayableFile.chime(tone.bytes, named: text)
  }

  /// Returns bytes that are the same for two texts if they name the same sound; empty for a file that cannot be read.
  static func content(of text: String) -> Data {
    if text.isEmpty || text == none || text.hasPrefix(toneMark) { return Data(text.utf8) }
    return (try? Data(contentsOf: URL(filePath: text))) ?? Data()
  }

  /// Returns the chimes of kinds; see ``choices(in:)``.
  ///
  /// - Throws: `PlayableFileError`, `ToneError`.
  func own(_ choices: [Payment.Kind: String]) throws -> [Payment.Kind: Chimes.Own] {
    var own: [Payment.Kind: Chimes.Own] = [:]
    for (kind, text) in choices {
      own[kind] = text == Self.none ? Chimes.Own.none : try chime(text).map { .sound($0) }
    }
    return own
  }

  /// Returns what is wrong with a sound and what to do next, without a full stop.
  static func rule(of error: any Error) -> String {
    switch error {
    case let error as PlayableFileError: "\(error.path) \(error.problem); \(error.remedy)"
    case let error as ToneError: "\(error.subject): \(error.reason); \(error.remedy)"
    default: "\(error)"
    }
  }
}
