// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A year of announcements at a small share of the usual rate; see Benchmarks/year-of-announcements. `make bench`
/// measures the service after such a year.
@Suite("A year of announcements")
struct YearChecks {
  /// The announcements of a day. A busy service has 20,000.
  static let perDay = ProcessInfo.processInfo.environment["CRIER_YEAR_PER_DAY"] ?? "50"

  @Test("in a simulated year, folder and ledger stay within their budgets, and no clip with a valid URL is missing")
  func year() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "year-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let (process, output) = (Process(), Pipe())
    process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appending(
      path: "year-of-announcements")
    process.arguments = [folder.path(percentEncoded: false), Self.perDay]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(text)")
    let words = text.split { $0 == " " || $0 == "\n" }.map(String.init)
    let figures = Dictionary(
      uniqueKeysWithValues: stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], Int(words[$0 + 1]) ?? -1) })
    let budget = try #require(figures["folder_budget"])
    #expect(try #require(figures["folder_most"]) <= budget)
    #expect(figures["missing"] == 0)
    #expect(try #require(figures["clips"]) > 0)
    // The ledger is full after 30 days. From then on it does not grow.
    let (full, end) = (try #require(figures["ledger_day_40"]), try #require(figures["ledger_end"]))
    #expect(end <= full * 11 / 10, "\(full) and \(end) bytes")
    print("year: \(text)")
  }
}
