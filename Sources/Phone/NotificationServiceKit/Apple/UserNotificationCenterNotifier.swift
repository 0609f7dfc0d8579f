// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  import Foundation
  public import UserNotifications

  /// Adds local notifications to the user's notification center, from the app or from its service extension.
  public struct UserNotificationCenterNotifier: LocalNotifying {
    private let modify: @Sendable (UNMutableNotificationContent, HandOver) -> Void

    /// - Parameter modify: Changes the texts of a notification before iOS gets it, like
    ///   ``CrierNotificationService/modify(_:for:)``. An app that calls ``NotificationService/catchUp()`` passes the
    ///   same function here.
    public init(modify: @escaping @Sendable (UNMutableNotificationContent, HandOver) -> Void = { _, _ in }) {
      self.modify = modify
    }

    /// Adds a notification with the texts and the options of the push for which it stands.
    ///
    /// - Throws: The error of `UNUserNotificationCenter`, for example if the app may not show notifications.
    public func add(_ notification: LocalNotification) async throws {
      let content = UNMutableNotificationContent()
      content.userInfo = UserInfo.userInfo(of: notification.payload)
      content.apply(notification.texts)
      content.apply(notification.handOver)
      modify(content, notification.handOver)
      // An interval of 0 raises an exception in Objective-C. Without a trigger, iOS shows the notification at once.
      let trigger =
        notification.delay > 0
        ? UNTimeIntervalNotificationTrigger(timeInterval: TimeInterval(notification.delay) / 1_000, repeats: false)
        : nil
      try await UNUserNotificationCenter.current().add(
        UNNotificationRequest(
          identifier: notification.identifier, content: content.withSender(of: notification.handOver),
          trigger: trigger))
    }
  }
#endif
