// SPDX-License-Identifier: Apache-2.0

/// The written form of an announcement, for a notification on a screen.
///
/// A payment has a title with what happened and the sum, the channel's written name as the subtitle, and the payer and
/// the note as the body: `Received $12.50`, `PayPal`, `From Zhang San. Note: table 5`.
///
/// ``Script`` is the spoken form. It writes numbers as words and respells names for a voice. A banner does neither.
public struct Banner: Sendable, Hashable {
  /// What happened, with the sum; `nil` for a text. A phone then shows the app's name as the title.
  public var title: String?

  /// The written name of the payment channel; `nil` if the announcement has no channel.
  public var subtitle: String?

  /// The payer and the note, the sums of a summary, or the text; `nil` if the payment has neither payer nor note.
  public var body: String?

  /// The largest length of a text in a banner, in characters. A phone shows only a few lines of it.
  public static let longestText = 1_000
}

extension PhraseBooks {
  /// Returns the written form of an announcement.
  ///
  /// The locale's book is chosen as for the spoken form, so both are in the same language.
  ///
  /// Names and texts from outside are shown as written, without invisible characters; see ``VisibleText``. A name or a
  /// note that is longer than its limit in ``Payment`` is cut, and so is a text longer than ``Banner/longestText``. A
  /// cut text ends with an ellipsis.
  ///
  /// - Parameter defaultLocale: the locale (BCP 47) for an announcement that names no locale. If `defaultLocale` is
  ///   `nil` too, the locale is ``PhraseBooks/usualLocale``.
  /// - Throws: `.localeUnknown` or the error of an invalid book; `.nothingToSay` for a text without a visible
  ///   character, and for the word before a repeated announcement, which is only spoken. A currency is never an error.
  public func banner(
    for announcement: Announcement, defaultLocale: String?
  ) throws(AnnouncementError) -> Banner {
    let writer = BannerWriter(book: try book(for: announcement.locale ?? defaultLocale ?? PhraseBooks.usualLocale))
    switch announcement {
    case .payment(let payment): return writer.banner(for: payment)
    case .summary(let summary): return writer.banner(for: summary)
    case .text(let text, _):
      guard let body = VisibleText.of(text, atMost: Banner.longestText) else {
        throw AnnouncementError(
          .nothingToSay, "text", "has no character that a banner can show", remedy: "give at least one word")
      }
      return Banner(body: body)
    case .again:
      throw AnnouncementError(
        .nothingToSay, "announcement", "is only the spoken word before a repeated announcement",
        remedy: "show the repeated announcement itself")
    }
  }
}

/// Writes the banners of payments with the phrases of one book.
struct BannerWriter {
  let book: PhraseBook

  private var phrases: BannerPhrases { book.content.banner }

  func banner(for payment: Payment) -> Banner {
    // A valid book has a title for each kind of payment.
    let title = phrases.titles[payment.kind.rawValue]?.form(for: payment.amount) ?? "{amount}"
    var banner = Banner(title: Self.filled(title, [.amount: payment.amount.written(in: book.locale)]))
    if let channel = payment.channel {
      banner.subtitle =
        phrases.channels[channel.lowercased()] ?? VisibleText.of(channel, atMost: Payment.longestChannel)
    }
    var parts: [String] = []
    if let phrase = phrases.payer[payment.kind.rawValue], let payer = payment.payer,
      let name = VisibleText.of(withoutRepeatedHonorific(payer, in: phrase), atMost: Payment.longestPayer)
    {
      parts.append(Self.filled(phrase, [.payer: VisibleText.isolated(name)]))
    }
    if let note = payment.note.flatMap({ VisibleText.of($0, atMost: Payment.longestNote) }) {
      parts.append(Self.filled(phrases.note, [.note: VisibleText.isolated(note)]))
    }
    banner.body = joined(parts)
    return banner
  }

  func banner(for summary: PaymentSummary) -> Banner {
    let count = summary.totals.reduce(0) { $0 + $1.count }
    let amounts = summary.totals.map { $0.amount.written(in: book.locale) }
    return Banner(
      title: Self.filled(phrases.summary.title(for: count), [.count: count.written(in: book.locale)]),
      body: Self.filled(phrases.summary.total, [.amount: amounts.joined(separator: " + ")]))
  }

  /// Joins the parts of a body. A name that ends with the separator's own punctuation (`Acme Inc.`) does not get it
  /// twice.
  private func joined(_ parts: [String]) -> String? {
    guard var body = parts.first else { return nil }
    for part in parts.dropFirst() {
      let isRepeated = body.last == phrases.separator.first
      body += isRepeated ? String(phrases.separator.dropFirst()) : phrases.separator
      body += part
    }
    return body
  }

  /// Returns a payer's name. If the phrase around the name has a form of address, such as 様, a form of address at the
  /// end of the name is removed.
  private func withoutRepeatedHonorific(_ name: String, in phrase: String) -> String {
    let honorifics = book.content.honorifics ?? []
    return honorifics.contains(where: phrase.contains) ? book.withoutHonorific(name) : name
  }

  private static func filled(_ template: String, _ values: [SentenceTemplate.Place: String]) -> String {
    SentenceTemplate.pieces(of: template, filled: []).map { piece in
      switch piece {
      case .words(let words): words
      // A valid book has no other placeholders.
      case .place(let place): values[place] ?? ""
      }
    }.joined()
  }
}
