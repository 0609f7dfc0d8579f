// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Logging

/// A clock that the test sets.
final class TestTime: Sendable {
  private let time = Locked(Duration.zero)

  var now: Duration { time.withLock { $0 } }
  func wait(_ duration: Duration) { time.withLock { $0 += duration } }
}

/// A log in memory.
final class TestLog: Sendable {
  private let entries = Locked<[String]>([])

  /// The lines that were logged, with their metadata.
  var lines: [String] { entries.withLock { $0 } }

  var logger: Logger {
    var logger = Logger(label: "test") { [entries] _ in Handler(entries: entries) }
    logger.logLevel = .trace
    return logger
  }

  private struct Handler: LogHandler {
    var entries: Locked<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let more = metadata.merging(event.metadata ?? [:]) { $1 }
      entries.withLock { $0.append("\(event.level) \(event.message) \(more)") }
    }
  }
}
