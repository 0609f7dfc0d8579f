// SPDX-License-Identifier: Apache-2.0

import Foundation
import NotificationServiceKit

nonisolated final class ShopNotificationService: CrierNotificationService {
  override var appGroup: String { Shop.appGroup }

  override func configure(_ configuration: inout NotificationService.Configuration) {
    ShopNotifications.configure(&configuration)
  }

  override class func report(_ error: NotificationServiceError) { NSLog("%@", "\(error)") }
}
