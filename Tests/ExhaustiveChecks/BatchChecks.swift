// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundLibrary
import Synchronization
import TestSupport
import Testing

@Suite("A long batch", .serialized)
struct BatchChecks {
  /// A list of so many rows, written as it is read, in pieces of 1,000 rows.
  private static func source(rows: Int) -> BatchSource {
    let written = Mutex(0)
    return BatchSource {
      written.withLock { written in
        let header = written == 0 ? "id,amount,currency,locale\n" : ""
        let piece = (written..<min(written + 1_000, rows)).map { "\($0),\(1 + $0 % 1_000).50,CNY,zh-CN\n" }.joined()
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
    "200,000 rows need no more memory than 10,000",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
  func memory() async throws {
    let workshop = try await PackWorkshop(["zh-CN"])
    let library = SoundLibrary(container: try GroupContainer(containers: workshop.directory, group: "group.crier"))
    var peaks: [Int] = []
    for rows in [10_000, 200_000] {
      let source = Self.source(rows: rows)
      var (taken, lines, made) = (0, 0, 0)
      try await workshop.announcer.batch({ try await source.next() }, into: library, limit: 6) { outcome in
        taken += 1
        lines += outcome.line
        if try !outcome.result.get().cached { made += 1 }
      }
      #expect(taken == rows)
      #expect(lines == rows * (rows + 3) / 2)
      // Of 1,000 amounts each is made once, but for those that were under way twice.
      #expect(peaks.isEmpty ? (1_000...1_010).contains(made) : made == 0)
      peaks.append(try Self.peakKiB())
    }
    print("batch: peak after 10,000 rows \(peaks[0]) KiB, after 200,000 \(peaks[1]) KiB")
    #expect(peaks[1] - peaks[0] < 8 * 1_024)
  }
}
