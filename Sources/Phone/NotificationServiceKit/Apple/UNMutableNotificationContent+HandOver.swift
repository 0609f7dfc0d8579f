// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  import Announcements
  import CoreGraphics
  import Foundation
  import NotificationAttachments
  import PushMessages
  import UserNotifications

  extension UNMutableNotificationContent {
    /// Changes the content as a hand-over says. Everything else stays as it is: the badge, the thread, the category,
    /// the interruption level and `userInfo`.
    func apply(_ handOver: HandOver) {
      sound = handOver.sound.notificationSound(criticalVolume: handOver.criticalVolume)
      if let summary = handOver.summary {
        title = summary.title ?? title
        // The subtitle is about the first payment only.
        subtitle = ""
        body = summary.body ?? body
      }
      // A file that iOS refuses is left out. The other files are attached.
      attachments += handOver.attachments.compactMap { attachment in
        try? UNNotificationAttachment(
          identifier: attachment.identifier, url: attachment.file,
          options: attachment.notificationOptions)
      }
    }

    /// Sets the texts and the options of a push. Values that the push does not have stay as they are.
    func apply(_ texts: PushedTexts) {
      title = texts.title ?? title
      subtitle = texts.subtitle ?? subtitle
      body = texts.body ?? body
      if let badge = texts.badge { self.badge = NSNumber(value: badge) }
      threadIdentifier = texts.thread ?? threadIdentifier
      categoryIdentifier = texts.category ?? categoryIdentifier
      if let level = texts.interruptionLevel { interruptionLevel = UNNotificationInterruptionLevel(level) }
      relevanceScore = texts.relevanceScore ?? relevanceScore
    }
  }

  extension HandOver.Sound {
    /// Returns the sound in the form that iOS takes; nil for silence.
    fileprivate func notificationSound(criticalVolume: Float?) -> UNNotificationSound? {
      switch (self, criticalVolume) {
      case (.silent, _): nil
      case (.named(let name), nil): UNNotificationSound(named: UNNotificationSoundName(name))
      case (.named(let name), let volume?):
        UNNotificationSound.criticalSoundNamed(UNNotificationSoundName(name), withAudioVolume: volume)
      case (.systemDefault, nil): .default
      case (.systemDefault, let volume?): UNNotificationSound.defaultCriticalSound(withAudioVolume: volume)
      }
    }
  }

  extension DownloadedAttachment {
    /// The type and the options, in the form that `UNNotificationAttachment` takes.
    fileprivate var notificationOptions: [AnyHashable: Any] {
      var result: [AnyHashable: Any] = [
        UNNotificationAttachmentOptionsTypeHintKey: kind.uniformTypeIdentifier
      ]
      if options.hidesThumbnail { result[UNNotificationAttachmentOptionsThumbnailHiddenKey] = true }
      if let time = options.thumbnailTime { result[UNNotificationAttachmentOptionsThumbnailTimeKey] = time }
      if let part = options.thumbnailClipping {
        let rectangle = CGRect(x: part.x, y: part.y, width: part.width, height: part.height)
        result[UNNotificationAttachmentOptionsThumbnailClippingRectKey] = rectangle.dictionaryRepresentation
      }
      return result
    }
  }

  extension UNNotificationInterruptionLevel {
    fileprivate init(_ level: InterruptionLevel) {
      self =
        switch level {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }
  }
#endif
