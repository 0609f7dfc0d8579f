// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
public import Ledger
public import PlaybackOrder

extension StoredAnnouncement {
  /// The content that is played for an announcement.
  public enum Content: Sendable, Hashable {
    case announcement(Announcement, AnnouncementRequest.Options)
    /// A sound file, played unchanged.
    case file(URL)
  }

  private struct FilePayload: Codable {
    var file: String
    var title: String?
    /// The kind of the payment that the file announces.
    var kind: String?
  }

  /// Creates an announcement with the sequence number of a request and its category. The category is `payment` for
  /// received money, `refund` for a refunded, withdrawn, failed or pending payment, and `information` for text.
  ///
  /// - Parameters:
  ///   - id: The id of the request.
  ///   - payload: The bytes from which the request was decoded.
  ///   - defaults: The sender's defaults for values that the request leaves out.
  public init(
    account: String = "", id: String, lane: String = "", request: AnnouncementRequest, payload: Data,
    defaults: AnnouncementRequest.Defaults = AnnouncementRequest.Defaults(), expiresAt: Date? = nil
  ) {
    var category = PlaybackItem.Category.information
    var sequence: Int64?
    if case .payment(let payment) = request.announcement {
      category = PlaybackItem.Category(payment.kind)
      sequence = payment.sequence
    }
    self.init(
      account: account, id: id, lane: lane, category: category, sequence: sequence, payload: payload,
      defaultLocale: defaults.locale, defaultPack: defaults.pack, defaultGroup: defaults.group, expiresAt: expiresAt)
  }

  /// Creates an announcement of a sound file. Its category is `information`, so payments and refunds are played before
  /// it.
  ///
  /// - Parameters:
  ///   - file: The sound file. The process that plays the lane reads the file shortly before its turn, so the path is
  ///     made absolute.
  ///   - title: The title for people; nil for the file's name.
  ///   - paymentKind: The kind of the payment that the file announces, for its chime; nil for another sound.
  public init(
    file: URL, title: String? = nil, paymentKind: Payment.Kind? = nil, id: String, expiresAt: Date? = nil
  ) {
    let path = file.absoluteURL.standardizedFileURL.path(percentEncoded: false)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // Encoding a string cannot fail.
    let payload = (try? encoder.encode(FilePayload(file: path, title: title, kind: paymentKind?.rawValue))) ?? Data()
    self.init(id: id, kind: .file, category: .information, payload: payload, expiresAt: expiresAt)
  }

  /// Returns a replay of the announcement: an alert of this machine with the same content.
  ///
  /// - Parameter id: The id of the replay.
  func replay(id: String, expiresAt: Date) -> StoredAnnouncement {
    var replay = self
    (replay.account, replay.id, replay.isReplay, replay.expiresAt) = ("", id, true, expiresAt)
    (replay.category, replay.sequence) = (.alert, nil)
    return replay
  }

  /// - Throws: `AnnouncementError` if the payload cannot be read.
  public var content: Content {
    get throws(AnnouncementError) {
      switch kind {
      case .summary:
        return .announcement(.summary(try PaymentSummary(json: payload)), AnnouncementRequest.Options())
      case .file:
        guard let file = filePayload?.file else {
          throw AnnouncementError(
            .payloadMalformed, "file", "is missing", remedy: "give the path of a sound file")
        }
        return .file(URL(filePath: file))
      case .request:
        let request = try PayloadDecoder.storedRequest(payload)
        return .announcement(request.announcement, request.options)
      }
    }
  }

  /// The defaults for values that the payload leaves out.
  public var defaults: AnnouncementRequest.Defaults {
    AnnouncementRequest.Defaults(locale: defaultLocale, pack: defaultPack, group: defaultGroup)
  }

  /// The payment; nil if the announcement is something else. If the clip was already made, the value has only the
  /// payment's kind, its amount and the locale of the clip.
  private var payment: Payment? {
    if let decision, let amount = decision.amount, let kind = Payment.Kind(rawValue: decision.kind) {
      guard let currency = Currency(code: amount.currency),
        let money = try? Money(decimalText: amount.value, currency: currency)
      else { return nil }
      return Payment(amount: money, kind: kind, locale: decision.locale)
    }
    guard case .announcement(.payment(let payment), _) = try? content else { return nil }
    return payment
  }

  /// The kind of the payment; nil if the announcement is not a payment. A summary includes only received payments.
  var paymentKind: Payment.Kind? {
    switch kind {
    case .summary: .received
    case .file: filePayload?.kind.flatMap(Payment.Kind.init)
    case .request: decision.map { Payment.Kind(rawValue: $0.kind) } ?? payment?.kind
    }
  }

  /// The title for people, if a file has one.
  public var title: String? { kind == .file ? filePayload?.title : nil }

  private var filePayload: FilePayload? { try? JSONDecoder().decode(FilePayload.self, from: payload) }

  /// Makes the single announcement that summarises these payments. It says how many payments there are, and their sum
  /// in each currency.
  ///
  /// - Returns: The announcement, or nil if one of the announcements is not a received payment or if a sum is too large
  ///   to be spoken.
  public static func summary(of payments: [StoredAnnouncement]) -> StoredAnnouncement? {
    let received = payments.compactMap(\.payment)
    guard received.count == payments.count else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let summary = PaymentSummary(of: received), let payload = try? encoder.encode(summary)
    else { return nil }
    return StoredAnnouncement(id: UUID().uuidString, kind: .summary, category: .payment, payload: payload)
  }
}

extension PlaybackItem.Category {
  public init(_ kind: Payment.Kind) {
    switch kind {
    case .received: self = .payment
    // A pending payment must not be announced after the same payment has been received, so it keeps its place in the
    // order.
    case .refunded, .withdrawn, .failed, .pending: self = .refund
    }
  }
}
