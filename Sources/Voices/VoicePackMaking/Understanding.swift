// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import VoicePacks
public import Waveforms

/// The number of spoken amounts that a speech recogniser understands.
public struct Understanding: Sendable, Hashable, Encodable {
  /// An amount that was recognised as a different amount.
  public struct Misunderstood: Sendable, Hashable, Encodable {
    /// The amount and its currency: `41325.50 USD`.
    public var amount: String
    public var said: String
    public var heard: String
  }

  /// The number of spoken amounts.
  public var amounts: Int
  public var understood: Int
  public var misunderstood: [Misunderstood]

  /// The required percentage. If a smaller percentage of a pack's amounts is understood, each misunderstood amount
  /// becomes a warning.
  public static let bar = 96

  /// The percentage below which a pack is not fit for use.
  public static let lowest = 80

  public var isFit: Bool { understood * 100 >= amounts * Self.lowest }

  public var isEnough: Bool { understood * 100 >= amounts * Self.bar }
}

/// Measures how well English amounts are understood. Random amounts are spoken, and a recogniser transcribes them with
/// a grammar that accepts any number. The amounts are the same each time.
public struct UnderstandingMeasure: Sendable {
  /// The payments in speaking order. Their amounts are at most 99,999.99, in the book's own currency.
  public let payments: [Payment]

  private let writer: ScriptWriter
  private let recognizer: any SpeechRecognizing
  private let currency: Currency

  /// The limit of the amounts in major units.
  private static let limit: Int64 = 100_000

  /// Creates a measurement.
  ///
  /// - Throws: `AnnouncementError` for a phrase book that cannot speak its own currency.
  public init(
    writer: ScriptWriter, recognizer: any SpeechRecognizing, count: Int = 100
  ) throws(AnnouncementError) {
    guard let currency = writer.ownCurrency else { throw .unspeakableBook }
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

  /// Returns whether the amounts of a locale can be measured. Only English amounts can.
  public static func serves(_ locale: String) -> Bool { locale.lowercased().split(separator: "-").first == "en" }

  /// Measures sounds.
  ///
  /// - Parameter sounds: one sound for each of ``payments``, in the same order.
  /// - Throws: `AnnouncementError`, `PackMakingError`.
  public func measure(_ sounds: [Waveform]) throws -> Understanding { try measure(payments, sounds) }

  /// Measures announcements that are joined from a pack's clips. If the pack lacks the words for an amount's minor
  /// units, the amount is spoken without them. Amounts that the pack still cannot speak are left out.
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
