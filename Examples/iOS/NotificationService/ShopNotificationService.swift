// SPDX-License-Identifier: Apache-2.0

import Foundation
import NotificationServiceKit
import PhoneRegistration

nonisolated final class ShopNotificationService: CrierNotificationService {
  override var appGroup: String { Shop.appGroup }

  override func configure(_ configuration: inout NotificationService.Configuration) {
    if let phone = Shop.phone { configuration.connect(to: phone) }
  }

  override class func report(_ error: NotificationServiceError) { NSLog("%@", "\(error)") }
}
