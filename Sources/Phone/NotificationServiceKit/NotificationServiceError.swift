// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An error of the work on a notification. It names no amount, no name and no URL.
///
/// A notification is handed over despite any of these errors. They are meant for the app's log.
public struct NotificationServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// This program is not a member of the app group.
    case groupUnavailable = "group_unavailable"
    /// The order that the processes of the group share cannot be used.
    case orderUnavailable = "order_unavailable"
    /// Another process has held the lock of the order for seconds, or the disk is slow.
    case orderBusy = "order_busy"
    /// The payload cannot be read.
    case payloadUnreadable = "payload_unreadable"
    /// The phone has no voice pack or phrase book with the words of the announcement.
    case wordsUnavailable = "words_unavailable"
    /// The words of a stitched clip say another amount.
    case amountMismatch = "amount_mismatch"
    /// A file of the voice pack differs from the pack's manifest.
    case packDamaged = "pack_damaged"
    /// The clip would be empty, or would last 30 s or longer.
    case lengthRefused = "length_refused"
    /// The sound is not a mono PCM16 WAV file that iOS plays.
    case soundRefused = "sound_refused"
    /// The clip cannot be written into the group container.
    case notPublished = "not_published"
    /// The clip cannot be downloaded.
    case downloadFailed = "download_failed"
    /// A file cannot be attached.
    case attachmentFailed = "attachment_failed"
    /// The service cannot be asked for missing announcements.
    case catchUpFailed = "catch_up_failed"
    /// A local notification cannot be added.
    case localNotificationRefused = "local_notification_refused"
  }

  public let code: Code
  /// The folder of the shared files; nil if the error is not about these files.
  public let folder: URL?
  /// The cause in a few words, for example the system's message.
  public let reason: String?

  init(_ code: Code, folder: URL? = nil, reason: String? = nil) {
    self.code = code
    self.folder = folder
    self.reason = reason
  }

  public var description: String {
    let cause = reason.map { " (\($0))" } ?? ""
    let place = folder.map { " in \($0.path(percentEncoded: false))" } ?? ""
    return switch code {
    case .groupUnavailable:
      "The app group cannot be used\(cause). Notifications are handed over as they were sent; in Xcode, add the "
        + "capability App Groups with this group to the app and to each of its extensions."
    case .orderUnavailable:
      "The order file of the notifications\(place) cannot be used\(cause). The notification was handed over without "
        + "it; check that the extension has the app group and that the disk has space."
    case .orderBusy:
      "The order file of the notifications\(place) was locked by another process until the notification's time was "
        + "over. The notification was handed over without it."
    case .payloadUnreadable:
      "The payload of the push cannot be read\(cause). The notification was handed over as it was sent; send payloads "
        + "as docs/push.md describes them."
    case .wordsUnavailable:
      "The words cannot be said from a voice pack on the phone\(cause). Install the pack and the phrase book in the "
        + "group container."
    case .amountMismatch:
      "The words of the clip do not mean the amount\(cause), so the clip is not used. Check the voice pack."
    case .packDamaged: "A file of the voice pack differs from its manifest\(cause). Install the pack again."
    case .lengthRefused: "The clip is empty, or is 30 s long or longer\(cause), so iOS would not play it."
    case .soundRefused: "The sound is refused\(cause). Send a mono 16-bit PCM WAV file of less than 30 s."
    case .notPublished: "The clip cannot be written\(place)\(cause). Check the app group and the space on the disk."
    case .downloadFailed: "The clip cannot be downloaded\(cause). Another sound is used."
    case .attachmentFailed: "A file cannot be attached\(cause). The notification was handed over without it."
    case .catchUpFailed:
      "The service cannot be asked for missing announcements\(cause). The app asks again when it is opened."
    case .localNotificationRefused:
      "A local notification cannot be added\(cause). Check that the app may show notifications."
    }
  }
}
