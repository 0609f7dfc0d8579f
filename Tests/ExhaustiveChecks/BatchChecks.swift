// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("A batch of a million", .serialized)
struct BatchChecks {
  /// A list of so many rows, written as it is read, in pieces of 1,000 rows.
  private static func source(rows: Int, amount: String) -> BatchSource {
    let written = Mutex(0)
    return BatchSource {
      written.withLock { written in
        let header = written == 0 ? "id,amount,currency,locale\n" : ""
        let piece = (written..<min(written + 1_000, rows)).map { "\($0),\(amount),CNY,zh-CN\n" }.joined()
        written += 1_000
        return piece.isEmpty ? [] : Array((header + piece).utf8)
      }
    }
  }

  /// The most memory that this process has ever had resident, in KiB.
  private static func peakKiB() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }.orThrow("VmHWM")
    return try line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.orThrow("a figure")
  }

  @Test(
    "a million rows need no more memory than ten thousand",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
  func memory() async throws {
    let announcer = try Checkout.announcer()
    var peaks: [Int] = []
    for rows in [10_000, 1_000_000] {
      let source = Self.source(rows: rows, amount: "12.505")
      var (taken, lines) = (0, 0)
      try await announcer.batch({ try await source.next() }, into: nil, limit: 6) { outcome in
        taken += 1
        lines += outcome.line
      }
      #expect(taken == rows)
      #expect(lines == rows * (rows + 3) / 2)
      peaks.append(try Self.peakKiB())
    }
    print("batch: peak after 10,000 rows \(peaks[0]) KiB, after a million \(peaks[1]) KiB")
    #expect(peaks[1] - peaks[0] < 8 * 1_024)
  }
}
