// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import crier

@Suite("Misspelt words of the command line")
struct CommandLineSpellingTests {
  private func unknownWord(_ line: String) -> UnknownWord? {
    CommandLineWords(line.split(separator: " ").map(String.init), of: Crier.self).unknown
  }

  @Test(
    "the error for a misspelt option or subcommand suggests the right spelling",
    arguments: [
      ("render --loacle zh-CN --amount 5 --currency CNY", "--loacle", "--locale", "crier render"),
      ("render --loacle=zh-CN --amount 5", "--loacle", "--locale", "crier render"),
      ("rendr --amount 5 --currency USD", "rendr", "render", "crier"), ("keys creat", "creat", "create", "crier keys"),
      ("help rendr", "rendr", "render", "crier"), ("help keys rotat", "rotat", "rotate", "crier keys"),
      ("queue --jsom", "--jsom", "--json", "crier queue"), ("Render", "Render", "render", "crier"),
      ("render --payer_reading x --amount 5", "--payer_reading", "--payer-reading", "crier render"),
    ])
  func near(line: String, word: String, meant: String, command: String) throws {
    let unknown = try #require(unknownWord(line))
    #expect(unknown.word == word && unknown.meant == meant)
    #expect(unknown.message.contains("'\(word)'. Did you mean '\(meant)'?"))
    #expect(unknown.message.contains("See '\(command) --help'"))
  }

  @Test(
    "the error for a word unlike any subcommand lists the subcommands, and that for an unknown option names the option",
    arguments: ["foo", "help foo"])
  func far(line: String) throws {
    let subcommand = try #require(unknownWord(line))
    #expect(subcommand.word == "foo" && subcommand.meant == nil)
    #expect(subcommand.message.contains("Choose one of render, preview, words,"))
    let option = try #require(unknownWord("render --zzz"))
    #expect(option.message.hasPrefix("Error: Unknown option '--zzz'.\n"))
  }

  @Test(
    "a correct command line is left to the parser, even if its values look like options or subcommands",
    arguments: [
      "", "--version", "--help", "help", "help keys create", "render", "render -", "render payload.json --json",
      "render --payer --loacle --amount 5", "render --amount 5 -- --loacle", "queue", "queue --once --json",
      "queue show --output null", "queue cancel 7", "words 5 --currency USD --locale en-US",
      "play a.wav b.wav --gap=-1",
      "play --gap -1 a.wav", "keys create --scope announce --scope read", "voices import a --locale en-US --id b",
      "serve --print-config", "--generate-completion-script bash", "render --help-hidden", "help --help",
    ])
  func right(line: String) { #expect(unknownWord(line) == nil) }

  @Test(
    "a negative number on the command line is a value or an argument, and never an unknown option",
    arguments: [
      ("words -5 --currency USD", "words --currency USD -- -5"), ("words 7 -.5 -x", "words -x -- 7 -.5"),
      ("push alert --badge -1 --text a", "push alert --badge=-1 --text a"),
      ("play --gap -1 a.wav", "play --gap=-1 -- a.wav"), ("play -5.wav a.wav --gap 3", "play --gap 3 -- -5.wav a.wav"),
      ("words --text -5 --locale en-US -- -6 -7", "words --text=-5 --locale en-US -- -6 -7"),
      ("words --payer -1 -- 5", "words --payer=-1 -- 5"), ("queue volume -1", "queue volume -- -1"),
    ])
  func negative(line: String, readable: String) {
    let words = CommandLineWords(line.split(separator: " ").map(String.init), of: Crier.self)
    #expect(words.unknown == nil && words.readable?.joined(separator: " ") == readable)
  }

  @Test(
    "a command line without a negative number is not changed",
    arguments: ["", "words 5 --currency USD", "render -", "words -h", "play --gap=-1 -- a.wav", "-1", "queue -1"])
  func unchanged(line: String) {
    #expect(CommandLineWords(line.split(separator: " ").map(String.init), of: Crier.self).readable == nil)
  }

  @Test(
    "an error about a negative value on the command line names the value",
    arguments: [
      ("words -5 --currency USD --locale en-US", 65, "amount '-5': is negative"),
      ("render --amount -5 --currency USD --locale en-US", 65, "--amount: is negative"),
      (
        "push alert --text a --token aa --topic b --dry-run --badge -1", 64,
        "'-1' is invalid for '--badge <badge>': It is negative"
      ),
      ("apns-simulator --seed -1", 64, "'-1' is invalid for '--seed <seed>': It is negative"),
      ("batch list.csv --jobs -1", 64, "--jobs -1 is out of range"),
      ("queue volume -1", 64, "PERCENT -1 is out of range"),
    ] as [(String, Int32, String)])
  func negativeValues(line: String, status: Int32, message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(line.split(separator: " ").map(String.init))
    #expect(result.status == status && result.message.contains(message), "\(result.message)")
  }

  @Test("a misspelt option or subcommand makes the command line wrong, whatever follows it")
  func statuses() throws {
    let crier = try Command()
    defer { crier.remove() }
    for words in [
      ["render", "--loacle", "zh-CN", "--amount", "5", "--currency", "CNY"], ["rendr", "--amount", "5"],
      ["help", "foo"],
    ] {
      let result = try crier.run(words)
      #expect(result.status == 64 && result.output.isEmpty && result.message.hasPrefix("Error: Unknown "))
    }
  }
}
