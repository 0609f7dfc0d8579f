// SPDX-License-Identifier: Apache-2.0

import Foundation
import LibraryCopies
import NotificationServiceKit
import PhoneRegistration
import PushMessages
import UIKit
import UserNotifications

final class AppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
  private var tokens: PushTokens?

  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    UNUserNotificationCenter.current().delegate = self
    tokens = PushTokens { _, token in
      Task { await Shop.registration?.changed(.fileProvider, to: token) }
    }
    Task { await begin() }
    return true
  }

  private func begin() async {
    // Add .criticalAlert if Apple has granted the entitlement.
    _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound, .badge])
    UIApplication.shared.registerForRemoteNotifications()
    do {
      try await Shop.registration?.obtainCredentials(fromBackend: Shop.backend)
    } catch {
      // The next start of the app tries again.
      NSLog("The backend did not register this phone: %@", "\(error)")
    }
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    Task { await Shop.registration?.changed(.alert, to: deviceToken) }
  }

  /// Without a token, no notification arrives. iOS says the reason, such as a missing entitlement, or no network.
  func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error) {
    NSLog("iOS gave no push token: %@", "\(error)")
  }

  /// A background push says that the library has changed.
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    Task {
      do {
        let update = try await Shop.phone?.updateLibrary()
        // iOS gives fewer background pushes to an app that says this without need.
        completionHandler(update?.hasChanges == true ? .newData : .noData)
      } catch {
        completionHandler(.failed)
      }
    }
  }

  /// Large files of the library have come while no program of the app ran.
  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) {
    Task {
      _ = try? await Shop.phone?.finishBackgroundSession(identifier, appGroup: Shop.appGroup)
      completionHandler()
    }
  }

  /// Notifications are shown and heard while the app is open too.
  nonisolated func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler([.banner, .list, .sound, .badge])
  }
}
