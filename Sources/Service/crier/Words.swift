// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation

struct Words: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints amounts or a text in words, one line for each.",
    discussion: """
      EXAMPLES
        crier words 12.50 0.05 --locale zh-CN --currency CNY
        seq 1 100 | crier words - --locale hi-IN --currency INR
        crier words 12.50 --locale en-US --currency USD --channel alipay --phrase
        crier words --text 'You received $1.5 million' --locale en-US --phonemes
      """)

  @Argument(help: ArgumentHelp("Decimal amounts, or - for the lines of standard input.", valueName: "amount"))
  var amounts: [String] = []

  // Parsed unconditionally, because a text may begin with a hyphen.
  @Option(parsing: .unconditional, help: "A text to print as it will be spoken, instead of amounts.")
  var text: String?

  @Option(help: "The language, as a BCP 47 tag such as en-US.")
  var locale: String

  @Option(help: "The currency of the amounts, as an ISO 4217 code such as CNY.")
  var currency: String?

  @Option(help: "The kind of the payment: \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  var kind: Payment.Kind = .received

  @Option(help: "The payment channel, such as alipay.")
  var channel: String?

  @Option(parsing: .unconditional, help: "The name of the payer.")
  var payer: String?

  @Option(help: ArgumentHelp("The pronunciation of the payer's name, in kana or pinyin."))
  var payerReading: String?

  @Option(parsing: .unconditional, help: "The payer's note.")
  var note: String?

  @Flag(help: "Print the whole announcement instead of only the amount.")
  var phrase = false

  @Flag(help: "Print the phonemes that the engine will say, in its own notation.")
  var phonemes = false

  @Flag(help: "Print the text as it is given to the engine, with respellings for words that its voice mispronounces.")
  var respelled = false

  @Flag(help: "Print the clip tokens that a voice pack needs, separated by spaces.")
  var tokens = false

  @Option(help: "A lexicon to use instead of lexicon.csv in the home folder: CSV with columns locale, text, said.")
  var lexicon: String?

  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    guard text == nil || amounts.isEmpty else {
      throw ValidationError("AMOUNT and --text cannot be given together: choose one.")
    }
    guard text != nil || !amounts.isEmpty else { throw ValidationError("Nothing to print: give an AMOUNT, or --text.") }
    guard amounts == ["-"] || !amounts.contains("-") else {
      throw ValidationError("- cannot be combined with amounts: give amounts, or - to read standard input.")
    }
    guard text != nil || currency != nil else {
      throw ValidationError("AMOUNT needs --currency, such as --currency CNY.")
    }
    let forms = [(phonemes, "--phonemes"), (respelled, "--respelled"), (tokens, "--tokens")].filter(\.0).map(\.1)
    guard forms.count < 2 else {
      throw ValidationError("\(forms.joined(separator: " and ")) cannot be given together: choose one.")
    }
    let paymentFlags = [
      currency.map { _ in "--currency" }, channel.map { _ in "--channel" }, payer.map { _ in "--payer" },
      payerReading.map { _ in "--payer-reading" }, note.map { _ in "--note" },
    ].compactMap(\.self)
    if text != nil, let flag = paymentFlags.first {
      throw ValidationError(
        "\(flag) needs an AMOUNT and cannot be used with --text: leave out \(flag), or write its value into the text.")
    }
    if !phrase, text == nil,
      let flag = paymentFlags.first(where: { ["--payer", "--payer-reading", "--note"].contains($0) })
    {
      throw ValidationError("\(flag) needs --phrase: without --phrase, only the amount is printed.")
    }
  }

  func perform() async throws {
    let announcer = try files.announcer(speakers: 1, lexicon: lexicon)
    let book = try announcer.phraseBooks.book(for: locale)
    if book.voice == nil {
      Terminal.note("\(book.locale): espeak-ng has no voice that people would understand, so it needs recordings.")
    }
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
    let (whole, remarks) = try announcer.writing(of: announcement)
    let script = amountAlone ? whole.amountAlone : whole
    if !amountAlone {
      for line in remarks.unspoken.map(\.line) + remarks.warnings { Terminal.note(line) }
    }
    if tokens { return script.tokens.map(\.name).joined(separator: " ") }
    if respelled { return script.runs.map(\.spelling).joined(separator: " ") }
    guard phonemes else { return script.text }
    // The engine ends each clause with a newline, but each amount must stay on one line.
    return try await announcer.phonemes(of: script).joined(separator: " ").split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }
}
