// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import VoicePacks
public import Waveforms

/// How many of the amounts said a speech recogniser understands.
public struct Understanding: Sendable, Hashable, Encodable {
  /// An amount that was taken for another.
  public struct Misunderstood: Sendable, Hashable, Encodable {
    /// `41325.50 USD`
    public var amount: String
    public var said: String
    public var heard: String
  }

  /// How many amounts were said.
  public var amounts: Int
  public var understood: Int
  public var misunderstood: [Misunderstood]

  /// In hundredths: a pack of which fewer are understood has a warning for each amount that is not.
  public static let bar = 96

  public var isEnough: Bool { understood * 100 >= amounts * Self.bar }
}

/// Measures how well amounts in English are understood: random amounts are said, and a recogniser that expects any number
/// writes them down. The amounts are the same each time.
public struct UnderstandingMeasure: Sendable {
  /// In the order in which they are said: payments of up to 99,999.99 in the book's own currency.
  public let payments: [Payment]

  private let writer: ScriptWriter
  private let recognizer: any SpeechRecognizing
  private let currency: Currency

  /// In major units.
  private static let limit: Int64 = 100_000

  /// - Throws: `AnnouncementError` for a phrase book that cannot say its own currency.
  public init(
    writer: ScriptWriter, recognizer: any SpeechRecognizing, count: Int = 100
  ) throws(AnnouncementError) {
    guard let currency = writer.ownCurrency else {
      throw AnnouncementError(
        .currencyUnspeakable, "currency", "the phrase book names no currency", remedy: "give it one under currencies")
    }
    (self.writer, self.recognizer, self.currency) = (writer, recognizer, currency)
    var random = FixedRandom(seed: 2026)
    var payments: [Payment] = []
    for _ in 0..<max(0, count) {
      let minorUnits = Int64.random(in: 1..<Self.limit * currency.minorUnitsPerMajor, using: &random)
      let amount = try Money(minorUnits: minorUnits, currency: currency)
      payments.append(Payment(amount: amount, locale: writer.book.locale))
    }
    self.payments = payments
  }

  /// Whether the amounts of a locale can be measured: the recogniser knows English.
  public static func serves(_ locale: String) -> Bool { locale.lowercased().split(separator: "-").first == "en" }

  /// - Parameter sounds: one for each of ``payments``, in their order.
  /// - Throws: `AnnouncementError`, `PackMakingError`.
  public func measure(_ sounds: [Waveform]) throws -> Understanding { try measure(payments, sounds) }

  /// Measures what is joined from a pack's clips. Amounts for which it has no minor units are said without them, and
  /// those that it still cannot say are left out.
  ///
  /// - Throws: `AnnouncementError`, `PackMakingError`.
  public func measure(_ pack: VoicePack) throws -> Understanding {
    var said: [Payment] = []
    var sounds: [Waveform] = []
    for payment in payments {
      var whole = payment
      whole.amount = try Money(
        minorUnits: max(1, payment.amount.majorPart) * currency.minorUnitsPerMajor, currency: currency)
      for choice in [payment, whole] {
        guard let sound = try sound(of: choice, pack) else { continue }
        said.append(choice)
        sounds.append(sound)
        break
      }
    }
    return try measure(said, sounds)
  }

  private func measure(_ payments: [Payment], _ sounds: [Waveform]) throws -> Understanding {
    let english = try EnglishAmounts(writer: writer, currency: currency)
    let heard = sounds.isEmpty ? [] : try recognizer.words(in: sounds, grammar: english.grammar)
    var understanding = Understanding(amounts: sounds.count, understood: 0, misunderstood: [])
    for (payment, heard) in zip(payments, heard) {
      let script = try writer.script(for: .payment(payment))
      let words = heard.split(separator: " ").map(String.init)
      if english.meaning(of: words) == english.meaning(of: script.tokens.map(\.name)) {
        understanding.understood += 1
      } else {
        understanding.misunderstood.append(
          Understanding.Misunderstood(
            amount: "\(payment.amount.decimalText) \(currency.code)", said: script.text, heard: heard))
      }
    }
    return understanding
  }

  private func sound(of payment: Payment, _ pack: VoicePack) throws -> Waveform? {
    var clips: [SelectedClip] = []
    for selection in pack.selection(for: try writer.script(for: .payment(payment)).tokens) {
      guard case .clip(let clip) = selection else { return nil }
      clips.append(clip)
    }
    return clips.isEmpty ? nil : pack.stitched(clips, pauses: writer.book.pauses)
  }
}
