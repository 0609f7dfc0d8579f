// SPDX-License-Identifier: Apache-2.0

import Testing
import TextFormats

/// Returns the output of a reader for a text: `line: field|field`, or `line.field: code` for an error.
private func read(_ bytes: [UInt8], pieceBytes: Int = .max) -> [String] {
  var reader = CSVReader()
  var read: [String] = []
  func take() {
    while true {
      do throws(CSVError) {
        guard let record = try reader.next() else { return }
        read.append("\(record.line): \(record.fields.joined(separator: "|"))")
      } catch {
        read.append("\(error.line).\(error.field): \(error.code.rawValue)")
      }
    }
  }
  var rest = bytes[...]
  while !rest.isEmpty {
    reader.append(rest.prefix(pieceBytes))
    rest = rest.dropFirst(pieceBytes)
    take()
  }
  reader.end()
  take()
  return read
}

@Suite("Reading comma-separated values")
struct CSVReaderTests {
  static let sound: [(String, [String])] = [
    ("", []),
    ("a,b\n1,2\n", ["1: a|b", "2: 1|2"]),
    ("a,b\n1,2", ["1: a|b", "2: 1|2"]),
    ("a\r\nb\nc\rd", ["1: a", "2: b", "3: c", "4: d"]),
    ("a\n\n\r\n\rb\n", ["1: a", "5: b"]),
    ("a,\n,\n", ["1: a|", "2: |"]),
    ("\"\"\n", ["1: "]),
    ("\"a,b\",\"say \"\"hi\"\"\"\n", ["1: a,b|say \"hi\""]),
    ("\"\"\"\"\n", ["1: \""]),
    ("\"one\ntwo\r\nthree\rfour\",x\ny,z\n", ["1: one\ntwo\r\nthree\rfour|x", "5: y|z"]),
    ("\u{FEFF}a,b\n", ["1: a|b"]),
    ("a,\u{FEFF}b\n", ["1: a|\u{FEFF}b"]),
    ("张三,नमस्ते,😀\n", ["1: 张三|नमस्ते|😀"]),
    (" a ,b c\n", ["1:  a |b c"]),
    ("sep=,\na,b\n", ["2: a|b"]),
    ("\u{FEFF}sep=,\r\na,b\r\nsep=,\r\n", ["2: a|b", "3: sep=|"]),
    ("\"sep=\",\n", ["1: sep=|"]),
    // The first line that is not blank decides the separator.
    ("a;b\n1,5;2\n", ["1: a|b", "2: 1,5|2"]),
    ("a\tb\n1,5\t2;3\n", ["1: a|b", "2: 1,5|2;3"]),
    ("\n \r\na;b\n1;2", ["2:  ", "3: a|b", "4: 1|2"]),
    (";;\na;b;c\n", ["1: ||", "2: a|b|c"]),
    ("a,b;c\n", ["1: a|b;c"]),
    ("a;b;c,d\n1,2;3;4\n", ["1: a|b|c,d", "2: 1,2|3|4"]),
    ("\"a;b;c\",d\n\"1;2\",3\n", ["1: a;b;c|d", "2: 1;2|3"]),
    ("a\n1;2\n", ["1: a", "2: 1;2"]),
    ("\"a\nb\";c\n1;2\n", ["1: a\nb|c", "3: 1|2"]),
    ("sep=;\na;b\n", ["2: a|b"]),
    ("sep=\t\na\tb\n", ["2: a|b"]),
    ("sep=;\r\na,b;c\r\n", ["2: a,b|c"]),
    ("sep=,\na;b;c,d\n", ["2: a;b;c|d"]),
    ("\u{FEFF}sep=;\n1,5;2\n", ["2: 1,5|2"]),
  ]

  @Test(
    "comma-separated text in pieces of any size is read as records, each with the number of its first line",
    arguments: sound)
  func records(text: String, expected: [String]) {
    for pieceBytes in [1, 2, 3, 5, .max] { #expect(read(Array(text.utf8), pieceBytes: pieceBytes) == expected) }
  }

  static let faulty: [(String, [String])] = [
    ("sep=|\na|b\n", ["1.1: other_separator", "2: a|b"]),
    ("sep=;;\na;b\n", ["1.1: other_separator", "2: a|b"]),
    ("sep=;a\n", ["1.1: other_separator"]),
    ("sep=", ["1.1: other_separator"]),
    // A misplaced quotation mark invalidates its line.
    (" a , \"b\n", ["1.2: stray_quote"]),
    ("a\"b,c\nd\n", ["1.1: stray_quote", "2: d"]),
    ("x\n\"a\"b,c\nd\n", ["1: x", "2.1: stray_quote", "3: d"]),
    ("x,\"a\" ,c\r\nd\r\n", ["1.2: stray_quote", "2: d"]),
    // An unclosed quotation mark invalidates its own line, and the lines after it are read again.
    ("x\n1,\"a\n2,b\n3,c\n", ["1: x", "2.2: unclosed_quote", "3: 2|b", "4: 3|c"]),
    ("\"a,1\n\"b\",2\nc,3\n", ["1.1: stray_quote", "2: b|2", "3: c|3"]),
    ("a\n\"", ["1: a", "2.1: unclosed_quote"]),
    ("\"\n\"x\n", ["1.1: stray_quote", "2.1: unclosed_quote"]),
  ]

  @Test(
    "an error in comma-separated values has its line and field, and the rest of the text is read", arguments: faulty)
  func faults(text: String, expected: [String]) {
    for pieceBytes in [1, 2, 3, 5, .max] { #expect(read(Array(text.utf8), pieceBytes: pieceBytes) == expected) }
  }

  @Test("invalid UTF-8 makes only its own CSV record invalid")
  func invalidUTF8() {
    let bytes = Array("a\nb,".utf8) + [0xFF, 0x0A] + Array("\"".utf8) + [0xC3, 0x0A, 0xA9] + Array("\"\nc".utf8)
    #expect(read(bytes) == ["1: a", "2.2: invalid_utf8", "3.1: invalid_utf8", "5: c"])
  }

  @Test("a CSV record of 64 KiB is read, a record of one byte more is an error, and the next line is read")
  func length() {
    let longest = String(repeating: "x", count: CSVReader.largestRecord)
    #expect(read(Array("\(longest)\ny\n".utf8)) == ["1: \(longest)", "2: y"])
    #expect(read(Array("\(longest)x\ny\n".utf8)) == ["1.1: record_too_long", "2: y"])
    let far = Array("\(longest)\(longest)\(longest)\ny\n".utf8)
    #expect(read(far, pieceBytes: 999) == ["1.1: record_too_long", "2: y"])
  }

  @Test("if the first CSV line is longer than a record may be, its first 64 KiB decide on the separator")
  func longFirstLine() {
    let start = "a;b;" + String(repeating: "x", count: CSVReader.largestRecord)
    let list = Array("\(start),,,,\n1;2,3\n".utf8)
    for pieceBytes in [999, 60_000, .max] {
      #expect(read(list, pieceBytes: pieceBytes) == ["1.3: record_too_long", "2: 1|2,3"])
    }
  }

  @Test(
    "a CSV record reports whether it has no line break at its end",
    arguments: [("a,b", true), ("a,b\n", false), ("a\r\n", false)])
  func lineBreak(text: String, isMissing: Bool) throws {
    var reader = CSVReader()
    reader.append(Array(text.utf8))
    reader.end()
    #expect(try reader.next() != nil)
    #expect(reader.lacksLineBreak == isMissing)
  }

  @Test("an unclosed quotation mark makes only its own CSV line invalid, however much text follows")
  func unclosedBeforeMuch() {
    let rows = (2...20_000).map { "\($0): \($0)|x" }
    let text = "\"a,x\n" + (2...20_000).map { "\($0),x\n" }.joined()
    #expect(read(Array(text.utf8), pieceBytes: 4_096) == ["1.1: record_too_long"] + rows)
  }

  @Test("the number of consumed CSV bytes includes exactly the records that were returned so far")
  func consumedBytes() throws {
    var reader = CSVReader()
    reader.append(Array("\u{FEFF}ab,c\r\n\n\"d\ne\"\nf".utf8))
    reader.end()
    var offsets: [Int] = []
    while try reader.next() != nil { offsets.append(reader.consumedBytes) }
    #expect(offsets == [9, 16, 17])
  }

  @Test(
    "an error in comma-separated values has the position and the remedy, and does not contain the text",
    arguments: CSVError.Code.allCases)
  func description(code: CSVError.Code) {
    let error = CSVError(code, line: 7, field: 3)
    #expect(error.description.hasPrefix("line 7, field 3: "))
    #expect(error.description.hasSuffix("."))
    #expect(error.description.contains("; "))
  }
}
