// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import TestSupport
import Testing

@Suite("A long batch", .serialized)
struct BatchChecks {
  private static let program = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appending(path: "crier")

  /// Returns the largest resident memory that a process has had, in KiB.
  private static func peakKiB(_ process: Process) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
    let line = try status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }.orThrow("VmHWM")
    return try line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.orThrow("a figure")
  }

  /// The number of rows, at least 20,000.
  private static let rows = max(
    20_000, ProcessInfo.processInfo.environment["CRIER_BATCH_ROWS"].flatMap(Int.init) ?? 200_000)

  /// The batch runs in a separate program, whose memory nothing else uses. Each of the 1,000 amounts is rendered once
  /// and found in the library afterwards.
  @Test(
    "a list of many rows needs no more memory than a list of 10,000 rows",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
  func memory() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = Self.program
    process.arguments = ["batch", "-", "--json", "--method", "speech", "--containers", directory.path]
    process.environment = ["CRIER_DATA": Checkout.installation.data.path, "CRIER_HOME": directory.path]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("id,amount,currency,locale\n".utf8))
    var peaks: [Int] = []
    var rows = 0
    while rows < Self.rows {
      let piece = (rows..<rows + 500).map { "\($0),\(1 + $0 % 1_000).50,CNY,zh-CN\n" }.joined()
      try input.fileHandleForWriting.write(contentsOf: Data(piece.utf8))
      rows += 500
      // Every row is answered before the next ones are sent.
      var answers = 0
      while answers < 500 {
        let bytes = output.fileHandleForReading.availableData
        try #require(!bytes.isEmpty)
        answers += bytes.count { $0 == UInt8(ascii: "\n") }
      }
      if rows == 10_000 || rows >= Self.rows { peaks.append(try Self.peakKiB(process)) }
    }
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    // The status is 1 when a row has failed.
    #expect(process.terminationStatus == 0)
    print("batch: peak after 10,000 rows \(peaks[0]) KiB, after \(rows) \(peaks[1]) KiB")
    #expect(peaks[1] - peaks[0] < 8 * 1_024)
  }
}
