// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Logging

/// The last lines of the service's log, in memory, for a support bundle.
///
/// A line has the message and only those fields that never name an account, a device, an announcement or a key.
final class RecentLog: Sendable {
  /// The maximum number of lines.
  static let mostLines = 200
  /// The maximum length of a line, in characters.
  static let longestLine = 1_000
  private static let fields: Set = [
    "announcements", "app", "attempts", "code", "environment", "error", "from", "lane", "output", "reason", "server",
    "state", "waiting",
  ]

  private let kept = Locked<[String]>([])

  /// The lines, oldest first.
  var lines: [String] { kept.withLock { $0 } }

  func add(_ event: LogEvent, _ metadata: Logger.Metadata, at date: Date = Date()) {
    let fields = metadata.filter { Self.fields.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)" }
    let words = [date.ISO8601Format(), event.level.rawValue, event.message.description] + fields
    let line = String(words.joined(separator: " ").prefix(Self.longestLine))
    kept.withLock { lines in
      if lines.count >= Self.mostLines { lines.removeFirst(lines.count - Self.mostLines + 1) }
      lines.append(line)
    }
  }

  /// A log handler that also keeps the lines of another handler.
  struct Handler: LogHandler {
    let log: RecentLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { log.add(event, metadata.merging(event.metadata ?? [:]) { $1 }) }
  }
}
