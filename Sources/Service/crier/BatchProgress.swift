// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The progress of a batch and its texts for people. It is a pure value: the caller supplies the time.
struct BatchProgress: Equatable {
  /// The outcome of a row.
  enum Ending: Equatable {
    case made(bytes: Int), cached, failed
  }

  /// The list's size in bytes, or `nil` if the list comes through a pipe.
  let totalBytes: Int?

  private(set) var made = 0
  private(set) var cached = 0
  private(set) var failed = 0

  /// The total size of the new clips, in bytes.
  private(set) var clipBytes = 0

  /// The number of bytes of the list that belong to finished rows.
  private(set) var doneBytes = 0

  /// Snapshots of the last seconds, oldest first. The estimate of the time left uses only these, because rows whose
  /// clips already exist are much faster.
  private var past = [Moment()]

  private struct Moment: Equatable {
    var time = Duration.zero
    var rows = 0
    var bytes = 0
  }

  /// The number of snapshots to keep, at least one second apart.
  private static let longestPast = 15

  init(totalBytes: Int?) { self.totalBytes = totalBytes }

  var rows: Int { made + cached + failed }

  /// - Parameters:
  ///   - endOffset: The offset in the list, in bytes, at which the row ends.
  ///   - time: The time since the batch began.
  mutating func add(_ ending: Ending, endOffset: Int, at time: Duration) {
    switch ending {
    case .made(let bytes):
      made += 1
      clipBytes += bytes
    case .cached: cached += 1
    case .failed: failed += 1
    }
    // Rows can finish in any order.
    doneBytes = max(doneBytes, endOffset)
    if let last = past.last, time - last.time >= .seconds(1) {
      past.append(Moment(time: time, rows: rows, bytes: doneBytes))
      if past.count > Self.longestPast { past.removeFirst() }
    }
  }

  // MARK: Texts

  /// Returns the bar and the figures in fewer than `columns` columns, or only the figures if the bar does not fit or
  /// the total is unknown.
  func bar(at time: Duration, columns: Int) -> String {
    let figures = figures(at: time)
    let width = min(40, columns - 1 - figures.count - "[] ".count)
    guard let totalBytes, width >= 8 else { return String(figures.prefix(max(0, columns - 1))) }
    let filled = totalBytes == 0 ? width : min(doneBytes, totalBytes) * width / totalBytes
    return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: width - filled))] \(figures)"
  }

  /// Returns figures such as `42 %, 1,234 rows, 118/s, 3:05 left, 2 failed`.
  func figures(at time: Duration) -> String {
    var parts: [String] = []
    if let totalBytes, totalBytes > 0 { parts.append("\(min(doneBytes, totalBytes) * 100 / totalBytes) %") }
    parts.append(Self.counted(rows))
    if let oldest = past.first, time > oldest.time {
      let seconds = (time - oldest.time) / .seconds(1)
      parts.append("\(Self.rate(Double(rows - oldest.rows) / seconds))/s")
      let bytes = doneBytes - oldest.bytes
      if let totalBytes, bytes > 0 {
        let left = Double(max(0, totalBytes - doneBytes)) * seconds / Double(bytes)
        parts.append("\(Self.clock(left)) left")
      }
    }
    if failed > 0 { parts.append("\(Self.grouped(failed)) failed") }
    return parts.joined(separator: ", ")
  }

  /// Returns a summary such as `1,000 rows: 950 made, 48 already there, 2 failed; 96.3 MB in 8.1 s, 123/s`.
  func summary(at time: Duration) -> String {
    let seconds = time / .seconds(1)
    let rate = seconds > 0 ? ", \(Self.rate(Double(rows) / seconds))/s" : ""
    return "\(Self.counted(rows)): \(Self.grouped(made)) made, \(Self.grouped(cached)) already there, "
      + "\(Self.grouped(failed)) failed; \(Self.size(clipBytes)) in \(Self.tenths(seconds)) s\(rate)"
  }

  // MARK: Formatting

  private static func counted(_ rows: Int) -> String { rows == 1 ? "1 row" : "\(grouped(rows)) rows" }

  private static func grouped(_ number: Int) -> String {
    number.formatted(.number.locale(Locale(identifier: "en_US")))
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(grouped(tenths / 10)).\(tenths % 10)"
  }

  /// Formats a rate. Rates of ten or more have no decimals, because the decimals would change too fast to be read.
  private static func rate(_ rate: Double) -> String { rate < 10 ? tenths(rate) : grouped(Int(rate.rounded())) }

  /// Formats a size in decimal units, as disk sizes are.
  static func size(_ bytes: Int) -> String {
    for (unit, size) in [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)] where Double(bytes) >= size {
      return "\(tenths(Double(bytes) / size)) \(unit)"
    }
    return "\(bytes) B"
  }

  /// Formats a duration in seconds as `3:05` or `1:00:00`.
  private static func clock(_ time: Double) -> String {
    // If little progress took a long time, the estimate can exceed the range of Int.
    let seconds = Int(min(time.rounded(.up), 359_999))
    let twoDigits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return (hours > 0 ? "\(hours):\(twoDigits(minutes))" : "\(minutes)") + ":\(twoDigits(seconds % 60))"
  }
}
