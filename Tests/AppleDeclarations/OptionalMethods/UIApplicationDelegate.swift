// SPDX-License-Identifier: Apache-2.0

import Foundation
import UIKit

// The methods of an app delegate that the documented app leaves out. The check compiles this file only with that app.

extension UIApplicationDelegate {
  func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
  ) {
    fatalError()
  }

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    fatalError()
  }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) {
    fatalError()
  }
}
