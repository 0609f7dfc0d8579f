// SPDX-License-Identifier: Apache-2.0

/// How far a batch is, and how a person is told. A pure value: the time is given to it.
struct BatchProgress: Equatable {
  /// How a row ended.
  enum Ending: Equatable {
    case made(bytes: Int), cached, failed
  }

  /// The list's size in bytes; `nil` when it comes through a pipe.
  let totalBytes: Int?

  private(set) var made = 0
  private(set) var cached = 0
  private(set) var failed = 0

  /// The size of the clips that were made.
  private(set) var clipBytes = 0

  /// How much of the list is done.
  private(set) var doneBytes = 0

  /// Where it stood in the last seconds, the oldest first. What it does now tells the time left, and not how fast it
  /// found the clips of an earlier run.
  private var past = [Moment()]

  private struct Moment: Equatable {
    var time = Duration.zero
    var rows = 0
    var bytes = 0
  }

  /// How many moments are kept, at least a second apart.
  private static let longestPast = 15

  init(totalBytes: Int?) { self.totalBytes = totalBytes }

  var rows: Int { made + cached + failed }

  /// - Parameters:
  ///   - endOffset: how many bytes of the list end with the row.
  ///   - time: since the beginning.
  mutating func add(_ ending: Ending, endOffset: Int, at time: Duration) {
    switch ending {
    case .made(let bytes):
      made += 1
      clipBytes += bytes
    case .cached: cached += 1
    case .failed: failed += 1
    }
    // Rows end in any order.
    doneBytes = max(doneBytes, endOffset)
    if let last = past.last, time - last.time >= .seconds(1) {
      past.append(Moment(time: time, rows: rows, bytes: doneBytes))
      if past.count > Self.longestPast { past.removeFirst() }
    }
  }

  // MARK: What is told

  /// The bar and the figures in fewer than so many columns; the figures alone where the bar has no room, or no total.
  func bar(at time: Duration, columns: Int) -> String {
    let figures = figures(at: time)
    let width = min(40, columns - 1 - figures.count - "[] ".count)
    guard let totalBytes, width >= 8 else { return String(figures.prefix(max(0, columns - 1))) }
    let filled = totalBytes == 0 ? width : min(doneBytes, totalBytes) * width / totalBytes
    return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: width - filled))] \(figures)"
  }

  /// Such as `42 %, 1,234 rows, 118/s, 3:05 left, 2 failed`.
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

  /// Such as `1,000 rows: 950 made, 48 already there, 2 failed; 96.3 MB in 8.1 s, 123/s`.
  func summary(at time: Duration) -> String {
    let seconds = time / .seconds(1)
    let rate = seconds > 0 ? ", \(Self.rate(Double(rows) / seconds))/s" : ""
    return "\(Self.counted(rows)): \(Self.grouped(made)) made, \(Self.grouped(cached)) already there, "
      + "\(Self.grouped(failed)) failed; \(Self.size(clipBytes)) in \(Self.tenths(seconds)) s\(rate)"
  }

  // MARK: Figures

  private static func counted(_ rows: Int) -> String { rows == 1 ? "1 row" : "\(grouped(rows)) rows" }

  private static func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in "\(number)".reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(grouped(tenths / 10)).\(tenths % 10)"
  }

  /// Whole above ten, where tenths only flicker.
  private static func rate(_ rate: Double) -> String { rate < 10 ? tenths(rate) : grouped(Int(rate.rounded())) }

  /// Decimal units, as disks are sold in.
  private static func size(_ bytes: Int) -> String {
    for (unit, size) in [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)] where Double(bytes) >= size {
      return "\(tenths(Double(bytes) / size)) \(unit)"
    }
    return "\(bytes) B"
  }

  /// `3:05`, `1:00:00`.
  private static func clock(_ time: Double) -> String {
    // A list of which a sliver was done in a long time may tell more seconds than can be counted.
    let seconds = Int(min(time.rounded(.up), 359_999))
    let twoDigits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return (hours > 0 ? "\(hours):\(twoDigits(minutes))" : "\(minutes)") + ":\(twoDigits(seconds % 60))"
  }
}
