// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SoundFiles

/// The media types that a client accepts (RFC 9110, section 12.5.1).
struct Accept: Sendable {
  private struct Range: Sendable {
    var type: Substring
    var subtype: Substring
    /// The weight, from 0 to 1,000.
    var quality: Int

    func covers(_ media: String) -> Bool {
      let parts = media.split(separator: "/")
      return type == "*" || (type == parts[0] && (subtype == "*" || subtype == parts[1]))
    }

    /// How specific the range is, from 0 to 2. Of the ranges that match a media type, the most specific one determines
    /// its weight.
    var exactness: Int { type == "*" ? 0 : subtype == "*" ? 1 : 2 }
  }

  private let ranges: [Range]

  init(_ call: Call) { self.init(call.header(.accept)) }

  init(_ field: String?) {
    guard let field, field != "*/*", field != "application/json" else {
      ranges = field == "application/json" ? [Range(type: "application", subtype: "json", quality: 1000)] : []
      return
    }
    ranges = field.lowercased().split(separator: ",").compactMap { part in
      let pieces = part.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      let names = (pieces.first ?? "").split(separator: "/")
      guard names.count == 2 else { return nil }
      let quality =
        pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Self.quality(String($0.dropFirst(2))) } ?? 1000
      return Range(type: Substring(names[0]), subtype: Substring(names[1]), quality: quality)
    }
  }

  /// Returns the offer with the highest weight, and the first one of several with the same weight.
  ///
  /// - Returns: The media type; nil if none of the offers is acceptable.
  func best(of offers: [String]) -> String? {
    guard !ranges.isEmpty else { return offers.first }
    let rated = offers.map { offer in
      (offer, ranges.filter { $0.covers(offer) }.max { $0.exactness < $1.exactness }?.quality ?? 0)
    }
    guard let highest = rated.map(\.1).max(), highest > 0 else { return nil }
    return rated.first { $0.1 == highest }?.0
  }

  /// Returns the offer with the highest weight.
  ///
  /// - Throws: ``Problem`` with 406 if none of the offers is acceptable.
  func require(_ offers: String...) throws(Problem) -> String {
    guard let best = best(of: offers) else {
      throw Problem(
        .notAcceptable, "not_acceptable",
        "None of the accepted media types is available. Accept \(offers.joined(separator: " or ")).")
    }
    return best
  }

  /// Whether the client prefers a report, whatever the format of the clip.
  var wantsJSONFirst: Bool {
    best(of: ["application/json", "audio/wav", "audio/aiff", "audio/x-caf"]) == "application/json"
  }

  /// Returns whether the client prefers the clip's bytes to the report.
  ///
  /// - Throws: ``Problem`` with 406 if neither is acceptable.
  func wantsSound(of container: SoundFormat.Container) throws(Problem) -> Bool {
    let media = Clips.mediaType(ofFileNamed: ".\(container.rawValue)") ?? "audio/wav"
    return try require("application/json", media) == media
  }

  /// Returns the weight of a text: 500 for `0.5`. An invalid text counts as 1,000.
  private static func quality(_ text: String) -> Int {
    let digits = text.split(separator: ".", omittingEmptySubsequences: false)
    guard digits.count <= 2, let whole = Int(digits[0]), (0...1).contains(whole) else { return 1000 }
    guard digits.count == 2, whole == 0 else { return whole * 1000 }
    let thousandths = digits[1].prefix(3)
    guard thousandths.allSatisfy(\.isNumber) else { return 1000 }
    return Int(thousandths + String(repeating: "0", count: 3 - thousandths.count)) ?? 1000
  }
}
