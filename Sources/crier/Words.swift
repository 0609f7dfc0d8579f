// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation

struct Words: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the words of amounts or of a text, a line each.",
    discussion: """
      EXAMPLES
        crier words 12.50 0.05 --locale zh-CN --currency CNY
        seq 1 100 | crier words - --locale hi-IN --currency INR
        crier words 12.50 --locale en-US --currency USD --channel alipay --phrase
        crier words --text 'You received $1.5 million' --locale en-US --phonemes
      """)

  @Argument(help: ArgumentHelp("Amounts as decimal text, or - for a line each on standard input.", valueName: "amount"))
  var amounts: [String] = []

  // Unconditional: a text may begin with a hyphen.
  @Option(parsing: .unconditional, help: "A text, in place of amounts: prints it as it will be said.")
  var text: String?

  @Option(help: "The language, by BCP 47.")
  var locale: String

  @Option(help: "The currency of the amounts, by ISO 4217.")
  var currency: String?

  @Option(help: "What happened: \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  var kind: Payment.Kind = .received

  @Option(help: "How it was paid.")
  var channel: String?

  @Option(parsing: .unconditional, help: "Who paid.")
  var payer: String?

  @Option(help: ArgumentHelp("How the payer's name is said: kana, pinyin."))
  var payerReading: String?

  @Option(parsing: .unconditional, help: "What the payer wrote.")
  var note: String?

  @Flag(help: "Print the whole announcement.")
  var phrase = false

  @Flag(help: "Print what the engine will say, in its own mnemonics.")
  var phonemes = false

  @Flag(help: "Print what the engine is given: words that its voice would say wrongly are respelled.")
  var respelled = false

  @Flag(help: "Print the clip tokens, space-separated: what a voice pack needs to say it.")
  var tokens = false

  @Option(help: "A lexicon in place of the one in the home folder: CSV with the columns locale, text, said.")
  var lexicon: String?

  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    guard text == nil || amounts.isEmpty else {
      throw ValidationError("AMOUNT and --text cannot be given together: choose one.")
    }
    guard text != nil || !amounts.isEmpty else { throw ValidationError("Nothing to print: give an AMOUNT, or --text.") }
    guard amounts == ["-"] || !amounts.contains("-") else {
      throw ValidationError("- stands alone: amounts come from the command line or from standard input.")
    }
    guard text != nil || currency != nil else {
      throw ValidationError("AMOUNT needs --currency, such as --currency CNY.")
    }
    let forms = [(phonemes, "--phonemes"), (respelled, "--respelled"), (tokens, "--tokens")].filter(\.0).map(\.1)
    guard forms.count < 2 else { throw ValidationError("\(forms.joined(separator: " and ")): choose one.") }
    let paymentFlags = [
      currency.map { _ in "--currency" }, channel.map { _ in "--channel" }, payer.map { _ in "--payer" },
      payerReading.map { _ in "--payer-reading" }, note.map { _ in "--note" },
    ].compactMap(\.self)
    if text != nil, let flag = paymentFlags.first {
      throw ValidationError("\(flag) goes with AMOUNT; a text says such things itself.")
    }
    if !phrase, text == nil,
      let flag = paymentFlags.first(where: { ["--payer", "--payer-reading", "--note"].contains($0) })
    {
      throw ValidationError("\(flag) goes with --phrase: without it the words of the amount alone are printed.")
    }
  }

  func run() async throws {
    try await Failures.reported {
      let announcer = try files.announcer(speakers: 1, lexicon: lexicon)
      if let text {
        _ = try AnnouncementInput.limited(text, "--text", Announcement.longestText)
        try StandardOutput.write(try await line(for: .text(text, locale: locale), announcer, amountAlone: false))
      } else if amounts == ["-"] {
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
      amount: try AnnouncementInput.money(amount, currency ?? "", field: "amount '\(Terminal.printable(amount))'"),
      kind: kind,
      channel: try AnnouncementInput.limited(channel, "--channel", Payment.longestChannel),
      payer: try AnnouncementInput.limited(payer, "--payer", Payment.longestPayer),
      payerReading: try AnnouncementInput.limited(payerReading, "--payer-reading", Payment.longestPayer),
      note: try AnnouncementInput.limited(note, "--note", Payment.longestNote), locale: locale)
    return try await line(for: .payment(payment), announcer, amountAlone: !phrase)
  }

  private func line(for announcement: Announcement, _ announcer: Announcer, amountAlone: Bool) async throws -> String {
    let whole = try announcer.script(for: announcement)
    let script = amountAlone ? whole.amountAlone : whole
    if tokens { return script.tokens.map(\.name).joined(separator: " ") }
    if respelled { return script.runs.map(\.spelling).joined(separator: " ") }
    guard phonemes else { return script.text }
    // The engine ends each clause with a new line; one amount is one line here.
    return try await announcer.phonemes(of: script).joined(separator: " ").split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }
}
