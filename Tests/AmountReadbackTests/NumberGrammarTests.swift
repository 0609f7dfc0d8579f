// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AmountReadback

@Suite("Rules that read numbers")
struct NumberGrammarTests {
  /// A small language: one, two; ten, twenty; hundred; and. A unit with two forms, and a minor unit.
  private static func file(
    _ rules: [String: String] = [:], spaces: Bool = true, source: String = "own", numbers: [String: String]? = nil,
    unitFirst: Bool = false
  ) throws -> Data {
    let usual = [
      "below100": "digit | ten [digit]", "whole": "zero | below100 | [digit] hundred [[and] below100]",
      "count": "whole", "decimal": "zero | digit",
    ]
    return try JSONSerialization.data(withJSONObject: [
      "language": "xx", "source": source, "spaces": spaces, "unitFirst": unitFirst, "fold": ["’": "'", "*": ""],
      "numbers": [
        "zero": ["0": "zero"], "digit": numbers ?? ["1": "one", "2": "two | twain", "3": "th'ree"],
        "ten": ["10": "ten", "20": "twenty"],
      ],
      "scales": ["hundred": ["100": "hundred"]], "joiners": ["and": "and"], "point": "point", "between": "and",
      "rules": usual.merging(rules) { $1 },
      "units": [
        ["currencies": ["USD"], "names": "buck [=1] | bucks [-=1] | buckish [.]"],
        ["currencies": ["USD"], "whenNamed": ["USD", "EUR"], "fraction": 2, "names": "cent"],
      ],
      "otherNames": ["XTS": "test coin"],
    ])
  }

  private func read(_ words: String, in code: String = "USD", _ language: ReadingLanguage) -> Reading.Outcome {
    do {
      let reader = AmountReader("xx", language)
      return .amount(try reader.minorUnits(in: words, currency: code, minorDigits: 2))
    } catch { return .refused(error.code) }
  }

  @Test(
    "an amount is the sum of its parts, and a word such as “hundred” multiplies the number before it",
    arguments: [
      ("one buck", 100), ("twain bucks", 200), ("ten two bucks", 1_200), ("two hundred and twenty one bucks", 22_100),
      ("hundred bucks", 10_000), ("zero bucks", 0), ("th’ree bucks", 300), ("t*wo bucks", 200),
      ("two bucks and ten cent", 210), ("two bucks ten cent", 210), ("twenty cent", 20),
      ("one point two zero buckish", 120), ("two point one bucks", 210), ("bucks, twenty", 2_000),
    ] as [(String, Int64)])
  func reads(words: String, amount: Int64) throws {
    #expect(read(words, try ReadingLanguage(data: Self.file())) == .amount(amount))
  }

  @Test(
    "number words in a wrong order or a wrong form are unreadable",
    arguments: [
      "one bucks", "two buck", "two buckish", "two ten bucks", "one two bucks", "hundred hundred bucks", "and one buck",
      "two hundred and bucks", "twobucks", "two bucks and", "two bucks two", "two bucks hundred cent",
      "two cent two buck",
      "zero hundred bucks", "ten zero bucks", "point two bucks", "two point bucks", "one point two zero one bucks", "",
      "bucks",
    ])
  func refused(words: String) throws {
    #expect(read(words, try ReadingLanguage(data: Self.file())) == .refused(.unreadable))
  }

  @Test(
    "a number word of two digits after the decimal point is unreadable, even if a rule of the reader allows the word")
  func digitsBehindPoint() throws {
    let language = try ReadingLanguage(data: Self.file(["decimal": "zero | digit | ten"]))
    #expect(read("one point two bucks", language) == .amount(120))
    #expect(read("one point ten bucks", language) == .refused(.unreadable))
  }

  @Test(
    "if a unit stands before its count, units go from large to small and agree with their counts",
    arguments: [
      ("bucks two", .amount(200)), ("buck one", .amount(100)), ("cent twenty", .amount(20)),
      ("bucks two cent ten", .amount(210)), ("bucks two hundred and one and cent ten", .amount(20_110)),
      ("bucks two and cent ten", .amount(210)), ("two bucks", .refused(.unreadable)),
      ("buck two cent ten", .refused(.unreadable)), ("bucks two cent ten cent one", .refused(.unreadable)),
      ("cent ten bucks two", .refused(.unreadable)), ("bucks two bucks two", .refused(.unreadable)),
      ("bucks two and", .refused(.unreadable)), ("bucks two cent hundred", .refused(.unreadable)),
    ] as [(String, Reading.Outcome)])
  func unitFirst(words: String, outcome: Reading.Outcome) throws {
    #expect(read(words, try ReadingLanguage(data: Self.file(unitFirst: true))) == outcome)
  }

  @Test("words for another currency, or without a currency, are refused, and a unit that currencies share is ambiguous")
  func currencies() throws {
    let language = try ReadingLanguage(data: Self.file())
    #expect(read("two bucks", in: "EUR", language) == .refused(.wrongCurrency))
    #expect(read("two", in: "USD", language) == .refused(.wrongCurrency))
    #expect(read("two cent", in: "EUR", language) == .refused(.ambiguous))
    #expect(read("two test coin", in: "XTS", language) == .amount(200))
    #expect(read("two test coin", in: "USD", language) == .refused(.wrongCurrency))
  }

  @Test("a text that can mean two different amounts is refused as ambiguous")
  func ambiguous() throws {
    let two = try ReadingLanguage(data: Self.file(numbers: ["1": "one | few", "2": "two", "3": "few"]))
    #expect(read("few point one bucks", two) == .refused(.ambiguous))
    // Only three of them are “bucks”.
    #expect(read("few bucks", two) == .amount(300))
    #expect(read("two bucks", two) == .amount(200))
    // Ten and one, or eleven hundreds without a word between: both ways to divide the text are found.
    let open = try ReadingLanguage(data: Self.file(["whole": "below100 | below100 below100"]))
    #expect(read("ten one two bucks", open) == .amount(1_300))
  }

  @Test("if the words have no spaces between them, the reader tries every division of the text")
  func unspaced() throws {
    let language = try ReadingLanguage(
      data: Self.file(spaces: false, numbers: ["1": "a", "2": "ab", "3": "b"]))
    #expect(read("ab bucks", language) == .amount(200))
    #expect(read("tenab bucks", language) == .amount(1_200))
    let rules = try ReadingLanguage(
      data: Self.file(["whole": "digit digit"], spaces: false, numbers: ["1": "a", "2": "ab", "3": "b", "4": "bb"]))
    // a and bb are 5, ab and b are 5 too: one amount.
    #expect(read("abbbucks", rules) == .amount(500))
  }

  @Test("a number of more than 64 bits is out of range")
  func outOfRange() throws {
    let language = try ReadingLanguage(data: Self.file(numbers: ["1": "one", "9000000000000000000": "huge"]))
    #expect(read("huge bucks", language) == .refused(.outOfRange))
    #expect(read("one huge hundred bucks", language) != .amount(1))
  }

  @Test(
    "a mistake in the rules of a reader is an error that names the place",
    arguments: [
      (["whole": "zero | nothing"], "rules.whole contains “nothing”, which is neither a rule nor a class of words"),
      (["whole": "whole zero"], "begins with itself"),
      (["below100": "whole", "whole": "below100 | zero"], "begins with itself"),
      (["whole": "[zero"], "rules.whole has a “[” without “]”"),
      (["whole": "zero]"], "rules.whole has a “]” without “[”"),
      (["whole": "[zero]"], "rules.whole can be empty"), (["whole": ""], "rules.whole can be empty"),
      (["digit": "zero"], "rules.digit has the name of a class of words"),
    ])
  func faults(rules: [String: String], fault: String) throws {
    let data = try Self.file(rules)
    let error = #expect(throws: NumberGrammar.Fault.self) { try ReadingLanguage(data: data) }
    #expect(error?.text.contains(fault) == true, "\(error?.text ?? "no fault")")
  }

  @Test("a reader file is refused if it has a wrong number, has no source, or has another format")
  func fileFaults() throws {
    let wrong = try Self.file(numbers: ["one": "one"])
    #expect(throws: NumberGrammar.Fault.self) { try ReadingLanguage(data: wrong) }
    let nameless = try Self.file(source: "")
    #expect(throws: NumberGrammar.Fault.self) { try ReadingLanguage(data: nameless) }
    #expect(throws: NumberGrammar.Fault.self) { try ReadingLanguage(data: Data("[]".utf8)) }
    let endings = try Self.file(numbers: ["1": "one [x]"])
    let error = #expect(throws: NumberGrammar.Fault.self) { try ReadingLanguage(data: endings) }
    #expect(error?.text.contains("has no list of counts in its brackets") == true)
  }

  @Test(
    "a rule can allow a word only after counts with certain last digits",
    arguments: [
      ("1 -11", [1, 21, 101, 1_001], [0, 2, 11, 111, 211]), ("2 3 4 -12 -13 -14", [2, 23, 104], [1, 5, 12, 213, 20]),
      ("=1", [1], [0, 11, 101]), ("-=1", [0, 2, 11, 101], [1]), ("05", [5, 105, 1_205], [15, 25, 115]),
      (".", [], [0, 1, 2]),
    ] as [(String, [Int64], [Int64])])
  func endings(text: String, fits: [Int64], doNotFit: [Int64]) throws {
    let endings = try #require(CountEndings(text))
    #expect(fits.allSatisfy(endings.contains))
    #expect(!doNotFit.contains(where: endings.contains))
  }

  @Test(
    "a rule about the last digits of a count is refused if a part of the rule is not a number",
    arguments: ["", "x", "-", "=", "1 x", "-=", "1.5"])
  func noEndings(text: String) {
    #expect(CountEndings(text) == nil)
  }

  @Test("a language without a reader file has no reader, and a reader file with a mistake has its own error code")
  func readers() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Self.file().write(to: folder.appending(path: "xx.json"))
    try Self.file(["whole": "x"]).write(to: folder.appending(path: "yy.json"))
    let readers = AmountReaders(directory: folder)
    #expect(try readers.reader(for: "xx-XX").minorUnits(in: "two bucks", currency: "USD", minorDigits: 2) == 200)
    #expect(try readers.reader(for: "XX").count(in: "ten one") == 11)
    let unknown = #expect(throws: AmountReadbackError.self) { try readers.reader(for: "zz-XX") }
    #expect(unknown?.code == .languageUnknown)
    let outside = #expect(throws: AmountReadbackError.self) { try readers.reader(for: "../xx") }
    #expect(outside?.code == .languageUnknown)
    let invalid = #expect(throws: AmountReadbackError.self) { try readers.reader(for: "yy") }
    #expect(invalid?.code == .readerInvalid)
    #expect(invalid?.description.contains("rules.whole contains “x”") == true)
  }
}
