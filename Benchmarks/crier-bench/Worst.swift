// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Measures how long worst-case bodies and lists of 64 KiB take on one core before any speech is made, in each locale.
///
/// For each kind, it prints the processor time in microseconds and the ratio to the median of ordinary bodies or lists
/// of the same size in all locales. The ratio is about the same on every machine.
struct Worst: AsyncParsableCommand {
  @Option(help: "The number of times to read each text.") var count = 20
  @Option(help: "The largest ratio to the ordinary median. A kind that exceeds it is an error.") var limit = 10.0

  func validate() throws {
    guard count > 0 else { throw ValidationError("--count must be at least 1.") }
  }

  func run() async throws {
    let books = try PhraseBooks(directory: Workload.installation.templates)
    let all = books.locales.map(WorstTexts.init)
    var slow: [String] = []
    for (form, worst, ordinary, read) in [
      ("body", \WorstTexts.bodies, \WorstTexts.ordinaryBodies, Self.readBody),
      ("list", \WorstTexts.lists, \WorstTexts.ordinaryLists, Self.readList),
    ] {
      let usual = try all.flatMap { $0[keyPath: ordinary] }.map { try microseconds($0, books, read) }.sorted()
      let median = usual[usual.count / 2]
      print("ordinary \(form) us \(Int(median))")
      for texts in all {
        let locale = texts.locale
        for (kind, text) in texts[keyPath: worst] {
          var time = try microseconds(text, books, read)
          // Other work of the machine can make a measurement too long, but never too short.
          if time > median * limit { time = min(time, try microseconds(text, books, read, least: 10)) }
          let ratio = (time / median * 100).rounded() / 100
          print("worst \(form) \(locale) \(kind.replacing(" ", with: "-")) us \(Int(time)) ratio \(ratio)")
          if time > median * limit {
            slow.append("\(form) with \(kind), \(locale): \(ratio) times the ordinary median")
          }
        }
      }
    }
    guard slow.isEmpty else { throw TooSlow(kinds: slow) }
  }

  private struct TooSlow: Error, CustomStringConvertible {
    var kinds: [String]
    var description: String { "Too slow to read:\n\(kinds.joined(separator: "\n"))" }
  }

  /// Returns the minimum of several times: longer times include other work of the machine.
  private func microseconds(
    _ text: String, _ books: PhraseBooks, _ read: (Data, PhraseBooks) -> Void, least times: Int = 1
  ) throws -> Double {
    let bytes = Data(text.utf8)
    guard bytes.count <= PayloadDecoder.largestBytes else {
      throw ValidationError("A text has \(bytes.count) bytes, which is too large: \(text.prefix(60))")
    }
    var least = Double.infinity
    for _ in 0..<max(count, times) {
      let start = Self.processorMicroseconds
      read(bytes, books)
      least = min(least, Self.processorMicroseconds - start)
    }
    return least
  }

  /// The processor time that the process has used, in microseconds. The process has only one thread here.
  private static var processorMicroseconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }

  /// Processes a body as the service does before it calls the engine. A refused body counts like an accepted one.
  private static func readBody(_ body: Data, _ books: PhraseBooks) {
    guard let request = try? PayloadDecoder.request(body) else { return }
    write(request.announcement, books)
  }

  /// Processes a list as a batch does before it calls the engine.
  private static func readList(_ list: Data, _ books: PhraseBooks) {
    var rows = BatchRows()
    rows.append([UInt8](list))
    rows.end()
    while let row = try? rows.next() {
      if case .success(let announcement) = row.announcement { write(announcement, books) }
    }
  }

  private static func write(_ announcement: Announcement, _ books: PhraseBooks) {
    _ = try? books.writer(for: announcement.locale ?? "en-US").writing(of: announcement)
  }
}
