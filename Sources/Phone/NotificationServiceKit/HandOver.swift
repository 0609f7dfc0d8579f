// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import NotificationAttachments
import SoundLibrary

/// The changes to the content of one push that the service extension hands over to iOS.
public struct HandOver: Sendable, Hashable {
  /// The reason why a notification makes no sound.
  public enum Silence: String, Sendable, Hashable, CaseIterable {
    /// A summary replaces the payment.
    case inSummary = "in_summary"
    /// The same push came before, and its announcement was heard.
    case duplicate
    /// The sound follows as a local notification when the sounds before it have ended. If too many local notifications
    /// already wait, the phone asks the service for the announcement again later.
    case later
    /// The push asks for no sound.
    case asSent = "as_sent"
  }

  /// The sound of the notification.
  public enum Sound: Sendable, Hashable {
    case silent(Silence)
    /// The sound file of this name in `Library/Sounds` or in the bundle.
    case named(String)
    /// The default sound of the system.
    case systemDefault

    init(_ prepared: PreparedSound) {
      self = prepared.name == SoundChoice.defaultName ? .systemDefault : .named(prepared.name)
    }
  }

  /// A summary that replaces several payments.
  public struct Summary: Sendable, Hashable {
    /// The ids of the announcements, in the order of their payments.
    public var announcements: [String]
    /// The number of payments and their sums, as the banner shows them.
    public var title: String?
    public var body: String?
  }

  public var sound: Sound
  /// The summary that is heard; nil if only one announcement is heard.
  public var summary: Summary?
  /// The volume of a critical alert, from 0 to 1; nil if the alert is not critical.
  public var criticalVolume: Float?
  /// The files to attach. iOS moves them into its own store.
  public var attachments: [DownloadedAttachment] = []
  /// The person who paid, for a communication notification; nil if the push names none.
  public var sender: Sender?

  /// The sender of a communication notification.
  public struct Sender: Sendable, Hashable {
    public var name: String
    /// The picture; nil if there is none.
    public var picture: URL?
  }
}

/// A notification that the phone adds itself. It is for a payment whose push was lost, or whose turn comes after iOS
/// has ended the extension.
public struct LocalNotification: Sendable, Hashable {
  /// The identifier: that of the silent notification to which this sound belongs, or the announcement's id if the push
  /// was lost. A notification replaces an earlier one with the same identifier, even one that was already delivered
  /// (UNUserNotificationCenter.h).
  public var identifier: String
  /// The payload of the push, as JSON.
  public var payload: Data
  /// The texts and options that iOS would show for the push.
  let texts: PushedTexts
  public var handOver: HandOver
  /// The time in ms until the notification is shown; 0 to show it at once.
  public var delay: Int64
}

/// Adds local notifications. On iOS, this is `UNUserNotificationCenter`.
public protocol LocalNotifying: Sendable {
  /// Adds a notification.
  ///
  /// - Throws: Any error if the system refuses it.
  func add(_ notification: LocalNotification) async throws
}

/// A source of announcements whose pushes were lost. Usually, this is the service, which is asked with the device's
/// key.
public protocol MissedAnnouncements: Sendable {
  /// Returns the announcements after a sequence number, in the order of their numbers.
  ///
  /// - Returns: The payloads of the pushes, and whether they are all the announcements that the service knows.
  func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool)
}
