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

/// Measures how long worst-case request bodies of 64 KiB take on one core before any speech is made. For each kind, it
/// prints the processor time in microseconds and the ratio to the median of all kinds.
struct Worst: AsyncParsableCommand {
  @Option(help: "How often each body is read.") var count = 20
  @Option(help: "End with an error when a kind takes more than so many times the median.") var limit = 10

  func run() async throws {
    let books = try PhraseBooks(directory: Workload.installation.templates)
    var times: [(kind: String, microseconds: Double)] = []
    for (kind, body) in Self.bodies {
      let body = Data(body.utf8)
      guard body.count <= PayloadDecoder.largestBytes else { throw ValidationError("\(kind) is too large.") }
      var samples: [Double] = []
      for _ in 0..<count {
        let start = Self.processorMicroseconds
        Self.read(body, books)
        samples.append(Self.processorMicroseconds - start)
      }
      // The minimum is the cost of the work itself. Longer times include other work of the machine.
      times.append((kind, samples.min() ?? 0))
    }
    let median = times.map(\.microseconds).sorted()[times.count / 2]
    var isTooSlow = false
    for (kind, microseconds) in times {
      let ratio = microseconds / median
      isTooSlow = isTooSlow || ratio > Double(limit)
      print("worst \(kind.replacing(" ", with: "-")) us \(Int(microseconds)) ratio \((ratio * 100).rounded() / 100)")
    }
    print("worst median us \(Int(median))")
    if isTooSlow { throw ExitCode.failure }
  }

  /// The processor time that the process has used, in microseconds. The process has only one thread here.
  private static var processorMicroseconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }

  /// Processes a body as the service does before it calls the engine. A refused body counts like an accepted one.
  private static func read(_ body: Data, _ books: PhraseBooks) {
    guard let request = try? PayloadDecoder.request(body) else { return }
    _ = try? books.writer(for: request.announcement.locale ?? "en-US").writing(of: request.announcement)
  }

  /// The twenty kinds of bodies.
  private static var bodies: [(kind: String, body: String)] {
    let marks = repeated("\u{301}", 30_000)
    let columns = (0..<5_000).map { "\"k\($0)\":1" }.joined(separator: ",")
    let texts: [(String, String)] = [
      ("marks", "e" + repeated("\u{301}\u{316}", 2_000)),
      ("digits with separators", repeated("1,", 2_000)),
      ("digits and hyphens", repeated("1-", 2_000)),
      ("sums without end", repeated("$1 000 ", 2_000)),
      ("web address without a host", repeated("a.", 2_000)),
      ("at signs", repeated("a@", 2_000)),
      ("signs of eighteen letters", repeated("\u{FDFA}", 2_000)),
      ("digits and spaces", repeated("1 ", 2_000)),
      ("words of numbers", repeated("hundred ", 2_000)),
      ("flags", repeated("\u{1F1E9}\u{1F1EA}", 2_000)),
      ("joined pictures", repeated("\u{1F469}\u{200D}", 2_000)),
      ("roman numerals", repeated("XIV ", 2_000)),
      ("one letter", repeated("x", 2_000)),
      ("scripts by turns", repeated("aя한あ中क", 2_000)),
    ]
    return [
      ("payer of one grapheme", payment(#""payer":"e\#(marks)""#)),
      ("key of one grapheme", payment(#""e\#(marks)":1"#)),
      ("many unknown keys", payment(columns)),
      ("numbers", payment(#""a":[\#((0..<30_000).map { _ in "1" }.joined(separator: ","))]"#)),
      ("escapes", payment(#""a":"\#(repeated(#"\u00e9"#, 60_000))""#)),
      (
        "names of numbers",
        payment(
          #""payer":"\#(repeated("一万", 80))","channel":"\#(repeated("five ", 80))","note":"\#(repeated("1 000 ", 200))""#
        )
      ),
    ] + texts.map { ($0.0, text($0.1)) }
  }

  private static func repeated(_ piece: String, _ scalars: Int) -> String {
    let piece = Array(piece.unicodeScalars)
    return String(String.UnicodeScalarView((0..<scalars).map { piece[$0 % piece.count] }))
  }

  private static func payment(_ more: String) -> String {
    padded(#"{"id":"p1","amount":"12.50","currency":"USD",\#(more)"#)
  }

  /// Returns a body with a text that is cut to the maximum number of Unicode scalars.
  private static func text(_ text: String) -> String {
    let text = String(text.unicodeScalars.prefix(Announcement.longestText))
    return padded(#"{"text":"\#(text)""#)
  }

  /// Returns an object that is filled with spaces to the maximum size of a body and then closed.
  private static func padded(_ object: String) -> String {
    object + String(repeating: " ", count: max(0, PayloadDecoder.largestBytes - object.utf8.count - 1)) + "}"
  }
}
