// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation

struct Words: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the words of amounts, a line each.",
    discussion: """
      EXAMPLES
        crier words 12.50 0.05 --locale zh-CN --currency CNY
        seq 1 100 | crier words - --locale hi-IN --currency INR
        crier words 12.50 --locale en-US --currency USD --channel alipay --phrase
      """)

  @Argument(help: ArgumentHelp("Amounts as decimal text, or - for a line each on standard input.", valueName: "amount"))
  var amounts: [String]

  @Option(help: "The language, by BCP 47.")
  var locale: String

  @Option(help: "The currency, by ISO 4217.")
  var currency: String

  @Option(help: "What happened: \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  var kind: Payment.Kind = .received

  @Option(help: "How it was paid.")
  var channel: String?

  @Flag(help: "Print the whole announcement.")
  var phrase = false

  @Flag(help: "Print what the engine will say, in its own mnemonics.")
  var phonemes = false

  @Flag(help: "Print the clip tokens, space-separated: what a voice pack needs to say it.")
  var tokens = false

  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    guard amounts == ["-"] || !amounts.contains("-") else {
      throw ValidationError("- stands alone: amounts come from the command line or from standard input.")
    }
    guard !(tokens && phonemes) else { throw ValidationError("--tokens and --phonemes: choose one.") }
  }

  func run() async throws {
    try await Failures.reported {
      let announcer = try files.announcer(speakers: 1)
      if amounts == ["-"] {
        var line = 0
        while let text = readLine() {
          line += 1
          do {
            try StandardOutput.write(try await words(of: text, announcer))
          } catch let error as AnnouncementError {
            throw AnnouncementError(error.code, "line \(line), \(error.subject)", error.problem, remedy: error.remedy)
          }
        }
      } else {
        for amount in amounts { try StandardOutput.write(try await words(of: amount, announcer)) }
      }
    }
  }

  private func words(of amount: String, _ announcer: Announcer) async throws -> String {
    let payment = Payment(
      amount: try AnnouncementInput.money(amount, currency, field: "amount '\(Terminal.printable(amount))'"),
      kind: kind,
      channel: try AnnouncementInput.limited(channel, "--channel", Payment.longestChannel), locale: locale)
    let whole = try announcer.script(for: .payment(payment))
    let script = phrase ? whole : whole.amountAlone
    if tokens { return script.tokens.map(\.name).joined(separator: " ") }
    guard phonemes else { return script.text }
    // The engine ends each clause with a new line; one amount is one line here.
    return try await announcer.phonemes(of: script).joined(separator: " ").split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }
}
