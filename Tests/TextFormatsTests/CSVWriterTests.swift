// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import TextFormats

@Suite("Writing comma-separated values")
struct CSVWriterTests {
  @Test(
    "a CSV field is quoted only if it must be",
    arguments: [
      (["a", "b c", ""], "a,b c,\r\n"), (["a,b", "c"], "\"a,b\",c\r\n"), (["say \"hi\""], "\"say \"\"hi\"\"\"\r\n"),
      (["a\nb", "c\rd", "e\r\nf"], "\"a\nb\",\"c\rd\",\"e\r\nf\"\r\n"), ([""], "\"\"\r\n"), (["", ""], ",\r\n"),
      (["a;b", "c\td"], "\"a;b\",\"c\td\"\r\n"), (["\u{FEFF}a"], "\"\u{FEFF}a\"\r\n"), (["=1+1"], "=1+1\r\n"),
      (["\"\u{301}"], "\"\"\"\u{301}\"\r\n"),
    ])
  func quotes(fields: [String], expected: String) {
    #expect(CSVWriter.record(fields) == expected)
  }

  @Test("every text that is written as CSV is read back unchanged")
  func roundTrip() throws {
    var random = SplitMix64(seed: 4_180)
    let pieces = ["a", ",", ";", "\t", "\"", "\n", "\r", "\r\n", " ", "\u{FEFF}", "张", "\u{301}", "\u{0}", "😀"]
    let records = (0..<2_000).map { _ in
      (0..<Int.random(in: 1...4, using: &random)).map { _ in
        (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      }
    }
    var reader = CSVReader()
    reader.append(records.flatMap { Array(CSVWriter.record($0).utf8) })
    reader.end()
    var read: [[String]] = []
    while let record = try reader.next() { read.append(record.fields) }
    #expect(read.map { $0.map { Array($0.utf8) } } == records.map { $0.map { Array($0.utf8) } })
  }
}
