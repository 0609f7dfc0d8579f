// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension Ledger {
  /// Returns the rule that the name of a lane breaks; nil if it breaks no rule.
  package static func brokenRule(ofLane lane: String) -> String? {
    isText(lane, 1...100) ? nil : "lane (1 to 100 bytes without NUL)"
  }

  /// Returns the rule that the detail of an event or of a change breaks; nil if it breaks no rule.
  package static func brokenRule(ofDetail detail: [String: String]) -> String? {
    detail.reduce(2) { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 } <= 1000
      ? nil : "detail (at most 1000 bytes as JSON)"
  }

  /// Returns the rule that the subject of an administrative act breaks; nil if it breaks no rule.
  package static func brokenRule(ofSubject subject: String?) -> String? {
    isText(subject, 0...255) ? nil : "subject (at most 255 bytes without NUL)"
  }

  /// Returns the rule that the clips of a batch break; nil if they break no rule.
  package static func brokenRule(
    ofClips names: [String], batch: String, account: String, files: [LibrarySound]
  ) -> String? {
    guard names.count <= 1000, (names + [batch]).allSatisfy({ isText($0, 1...255) }), isText(account, 0...255) else {
      return "clips (at most 1000 names, each of 1 to 255 bytes)"
    }
    return LibrarySound.brokenRule(of: files)
  }

  /// Returns the rule that the identifier of a container breaks; nil if it breaks no rule.
  package static func brokenRule(ofContainer container: String) -> String? {
    isText(container, 1...1024) ? nil : "container (1 to 1024 bytes without NUL)"
  }

  /// Returns the rule that an encrypted provider token or the name of its key breaks; nil if they break none.
  package static func brokenRule(ofProviderToken token: Data, key: String) -> String? {
    isText(key, 1...255) && (1...4_096).contains(token.count)
      ? nil : "provider token (1 to 4096 bytes, for a key with 1 to 255 bytes without NUL)"
  }

  /// Returns how many rows a call returns at most.
  ///
  /// - Parameter wanted: The number that the caller asks for.
  package static func limit(_ wanted: Int, most: Int = 1000) -> Int { min(max(wanted, 1), most) }

  /// Returns a detail as JSON, with sorted keys; nil when it is empty.
  package static func json(_ detail: [String: String]) throws -> String? {
    guard !detail.isEmpty else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(detail), as: UTF8.self)
  }

  /// Returns the detail that was stored as JSON.
  ///
  /// - Throws: ``UnreadableRow`` if the text is not the JSON of a detail.
  package static func detail(_ json: String?) throws -> [String: String] {
    guard let json else { return [:] }
    guard let detail = try? JSONDecoder().decode([String: String].self, from: Data(json.utf8)) else {
      throw UnreadableRow()
    }
    return detail
  }
}

/// Returns whether a text has an allowed number of bytes, and no zero byte. A missing text is allowed.
package func isText(_ text: String?, _ lengths: ClosedRange<Int>) -> Bool {
  text.map { lengths.contains($0.utf8.count) && !$0.hasZero } ?? true
}

extension String {
  /// Whether the text has a zero byte, which no database stores in a text.
  package var hasZero: Bool { utf8.contains(0) }

  /// The text as a key. Two texts of different bytes can be equal as strings, such as two forms of "é".
  package var bytes: Data { Data(utf8) }
}

extension Date {
  /// The milliseconds since 1970, rounded down; nil for a date that does not fit into 64 bits.
  package var wholeMilliseconds: Int64? {
    Int64(exactly: (timeIntervalSince1970 * 1000).rounded(.down))
  }

  package init(wholeMilliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(wholeMilliseconds) / 1000)
  }
}
