// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import NotificationAttachments
import PlaybackOrder
public import PushMessages

/// The parts of a push's payload that the service extension reads.
///
/// Only the key `crier` must have the form of `docs/push.md`. Any sender may set the other keys, so a value of the
/// wrong type counts as absent.
public struct NotificationPayload: Sendable, Hashable {
  /// The value of the key `crier`; nil if the push is not Crier's.
  public var content: AlertMessage.Content?
  /// The sound that the push names: `aps.sound`, or `aps.sound.name` of a critical alert; nil for a silent push.
  public var sound: String?
  /// The volume of a critical alert, from 0 to 1; nil for any other alert.
  public var criticalVolume: Float?
  /// The value of the key `sound-url`: the URL of a sound from elsewhere, such as a spoken message.
  public var soundURL: URL?

  /// The file that the push asks to attach; nil if it names none.
  public var attachment: AttachmentRequest?

  /// The reason why ``content`` cannot be read; nil if it was read, or if the push is not Crier's.
  var fault: NotificationServiceError?
  /// The texts and options that iOS itself reads.
  var texts = PushedTexts()

  /// The id and the sequence number of an announcement if this version cannot read the rest of the key `crier`.
  private var identity: Identity?

  /// Whether files must be fetched to show the notification.
  var hasFiles: Bool { attachment != nil || content?.payer?.avatarURL != nil }

  /// Reads a payload.
  ///
  /// - Parameter json: The whole payload, the `userInfo` of the notification, as JSON.
  /// - Throws: ``NotificationServiceError`` with `payloadUnreadable` if the bytes are not a JSON object, or if `crier`
  ///   does not have the documented form. The error names the key but no value.
  public init(_ json: Data) throws(NotificationServiceError) {
    try self.init(readable: json)
    if let fault { throw fault }
  }

  /// Reads as much of a payload as possible. If `crier` does not have the documented form, ``content`` is nil and
  /// ``fault`` says why. The notification then keeps its own sound, its place in the order and its attachment.
  ///
  /// - Throws: ``NotificationServiceError`` with `payloadUnreadable` if the bytes are not a JSON object.
  init(readable json: Data) throws(NotificationServiceError) {
    do {
      self = try JSONDecoder().decode(Decoded.self, from: json).payload
    } catch {
      throw NotificationServiceError(.payloadUnreadable, reason: "it is not a JSON object")
    }
  }

  private init() {}

  /// The facts that the order needs about the notification; nil if the push is not Crier's.
  public var arrival: NotificationOrder.Arrival? {
    if let identity {
      return NotificationOrder.Arrival(
        id: identity.id, category: .information, sequence: identity.sequence, locale: "", originalSound: sound)
    }
    guard let content else { return nil }
    let amount = content.kind == "received" ? content.amount : nil
    return NotificationOrder.Arrival(
      id: content.id, category: category, sequence: content.sequence.flatMap { $0 > 0 ? $0 : nil },
      amount: amount.map { NotificationOrder.Amount(value: $0.value, currency: $0.currency) },
      locale: content.locale, originalSound: sound,
      expectedDuration: content.clip?.duration)
  }

  private var category: PlaybackItem.Category {
    switch content?.kind {
    case "received": .payment
    case "refunded", "withdrawn", "failed", "pending": .refund
    default: .information
    }
  }

  /// A payload that is decoded in one pass.
  private struct Decoded: Decodable {
    var payload = NotificationPayload()

    enum CodingKeys: String, CodingKey {
      case aps, crier
      case soundURL = "sound-url"
    }

    init(from decoder: any Decoder) throws {
      let keys = try decoder.container(keyedBy: CodingKeys.self)
      payload.texts = (try? keys.decodeIfPresent(PushedTexts.self, forKey: .aps)) ?? PushedTexts()
      (payload.sound, payload.criticalVolume) = (payload.texts.sound?.name, payload.texts.sound?.volume)
      payload.soundURL = (try? keys.decodeIfPresent(String.self, forKey: .soundURL)).flatMap { URL(string: $0) }
      payload.attachment = (try? AttachmentPayload(from: decoder))?.request
      do {
        payload.content = try keys.decodeIfPresent(AlertMessage.Content.self, forKey: .crier)
      } catch {
        payload.identity = try? keys.decodeIfPresent(Identity.self, forKey: .crier)
        payload.fault = NotificationServiceError(
          .payloadUnreadable, reason: PushMessageError(decoding: error).description)
      }
    }
  }

  /// The part of the key `crier` that the order needs.
  private struct Identity: Decodable, Hashable {
    var id: String
    var sequence: Int64

    enum CodingKeys: CodingKey { case id, sequence }

    init(from decoder: any Decoder) throws {
      let keys = try decoder.container(keyedBy: CodingKeys.self)
      id = try keys.decode(String.self, forKey: .id)
      sequence = try keys.decode(Int64.self, forKey: .sequence)
      guard (1...256).contains(id.utf8.count), sequence > 0 else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The id or the number is invalid."))
      }
    }
  }
}
