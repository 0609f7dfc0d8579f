// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("crier words and crier preview")
struct WordsCommandTests {
  @Test("crier words prints one line for each amount, from arguments and from standard input")
  func lines() throws {
    let crier = try Command()
    defer { crier.remove() }
    let arguments = try crier("words", "12.50", "0.05", "--locale", "zh-CN", "--currency", "CNY")
    #expect(arguments.output == "十二元五角\n五分\n")
    #expect(arguments.message.isEmpty)
    let input = try crier("words", "-", "--locale", "en-US", "--currency", "USD", input: "1\n2.05\n")
    #expect(input.output == "one dollar\ntwo dollars and five cents\n")
  }

  @Test("crier words --phrase prints the whole announcement with its kind and channel")
  func phrase() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(
      "words", "12.50", "--locale", "zh-CN", "--currency", "CNY", "--channel", "alipay", "--kind", "refunded",
      "--phrase")
    #expect(result.output == "支付宝退款十二元五角\n")
  }

  @Test("crier words --phonemes prints the engine's phonemes, one line for each amount")
  func phonemes() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("words", "12", "5", "--locale", "en-US", "--currency", "USD", "--phonemes")
    #expect(result.output == "tw'Elv d'0l3z\nf'aIv d'0l3z\n")
  }

  @Test("crier words --text prints a text as it will be spoken, even if it begins with a hyphen")
  func text() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(
      try crier("words", "--text", "You received $1.5 million", "--locale", "en-US").output
        == "You received one million five hundred thousand dollars\n")
    #expect(try crier("words", "--text", "-$5", "--locale", "en-US").output == "minus five dollars\n")
  }

  @Test("crier words --respelled prints the engine's input, and --phrase accepts a payer and a note")
  func respelled() throws {
    let crier = try Command()
    defer { crier.remove() }
    let payment = [
      "words", "20", "--locale", "en-US", "--currency", "KRW", "--payer", "Dvořák", "--note", "III", "--phrase",
    ]
    #expect(try crier.run(payment).output == "Received twenty won, from Dvořák. Note, I I I\n")
    #expect(
      try crier.run(payment + ["--respelled"]).output == "Received twenty wahn, from devorák. Note, I I I\n")
  }

  @Test("crier words reports text that is not spoken, or not spoken as written, on standard error")
  func remarks() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run([
      "words", "5", "--locale", "zh-CN", "--currency", "CNY", "--phrase", "--payer", "李宗盛🎉", "--payer-reading",
      "li zong",
    ])
    #expect(result.output == "到账五元，来自李宗盛\n")
    #expect(
      result.message == """
        payer: not spoken: 🎉
        payer_reading: character 1 is neither pinyin with tones nor a Chinese character, so the name is spoken as it is \
        written

        """)
  }

  @Test("crier words uses the lexicon of the home folder, unless --lexicon names another")
  func lexicon() throws {
    let crier = try Command()
    defer { crier.remove() }
    let payment = [
      "words", "5", "--locale", "en-US", "--currency", "USD", "--payer", "Siobhan", "--phrase", "--respelled",
    ]
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data("locale,text,said\nen-US,Siobhan,Shivawn\n".utf8).write(to: crier.home.appending(path: "lexicon.csv"))
    #expect(try crier.run(payment).output == "Received five dollars, from Shivawn\n")
    let other = crier.directory.appending(path: "other.csv")
    try Data("locale,text,said\nen-US,Siobhan\n".utf8).write(to: other)
    let result = try crier.run(payment + ["--lexicon", other.path])
    #expect(result.status == 65)
    #expect(
      result.message == "crier: \(other.path), line 2: has 2 fields instead of three; write locale,text,said.\n")
    #expect(try crier.run(payment + ["--lexicon", "/nowhere.csv"]).status == 65)
  }

  @Test(
    "the error for options that exclude each other names them",
    arguments: [
      (["words", "5", "--text", "x", "--locale", "en-US"], "AMOUNT and --text cannot be given together: choose one."),
      (["words", "--locale", "en-US"], "Nothing to print: give an AMOUNT, or --text."),
      (["words", "5", "--locale", "en-US"], "AMOUNT needs --currency, such as --currency CNY."),
      (
        ["words", "--text", "x", "--locale", "en-US", "--payer", "Ann"],
        "--payer needs an AMOUNT and cannot be used with --text: leave out --payer, or write its value into the text."
      ),
      (
        ["words", "5", "--locale", "en-US", "--currency", "USD", "--note", "x"],
        "--note needs --phrase: without --phrase, only the amount is printed."
      ),
      (
        ["words", "5", "--locale", "en-US", "--currency", "USD", "--tokens", "--respelled"],
        "--respelled and --tokens cannot be given together: choose one."
      ),
    ])
  func conflicts(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(arguments)
    #expect(result.status == 64)
    #expect(result.message.contains("Error: \(message)"))
  }

  @Test("a wrong amount ends crier words with 65 and the line's number, after the earlier lines were printed")
  func badAmount() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("words", "-", "--locale", "en-US", "--currency", "USD", input: "1\n2.005\n3\n")
    #expect(result.status == 65)
    #expect(result.output == "one dollar\n")
    #expect(
      result.message
        == "crier: line 2, amount '2.005': has more decimal digits than USD has; USD has 2, and nothing is rounded.\n")
  }

  @Test("crier words refuses the argument '-' together with amounts")
  func dash() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("words", "-", "5", "--locale", "en-US", "--currency", "USD").status == 64)
    #expect(try crier("words", "5", "--currency", "USD").message.contains("--locale"))
  }

  @Test("crier preview into a pipe prints each word with its times and draws nothing")
  func preview() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("preview", "--amount", "5", "--currency", "USD", "--locale", "en-US", "--no-sound")
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines.map { String($0.split(separator: " ").last ?? "") } == ["Received", "five", "dollars"])
    #expect(lines.allSatisfy { $0.contains(" ms ") && $0.allSatisfy(\.isASCII) })
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "home").path), "no file is left")
  }

  @Test("the help of every command names its arguments", arguments: ["render", "preview", "words"])
  func help(command: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(command, "--help")
    #expect(result.status == 0)
    #expect(result.output.contains("--locale"))
    #expect(result.output.contains("USAGE: crier \(command)"))
  }
}
