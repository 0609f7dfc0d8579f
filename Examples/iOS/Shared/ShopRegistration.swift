// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import Foundation
import NotificationServiceKit

/// Registers this phone with the service whenever a token or the tone has changed. Calls follow one another, so the
/// latest registration is the last one.
actor ShopRegistration {
  static let shared = ShopRegistration()

  private var isRunning = false
  private var mustRepeat = false

  /// Stores a token that has changed, and registers the phone.
  ///
  /// - Parameter token: The token; nil if the former one became invalid.
  func changed(_ kind: PushTokenKind, to token: Data?) async {
    try? ShopDevice().store(token, kind)
    await register()
  }

  /// Registers the phone with all its tokens. After a failure, the next start of the app or the next change tries
  /// again.
  func register() async {
    mustRepeat = true
    guard !isRunning else { return }
    isRunning = true
    while mustRepeat {
      mustRepeat = false
      guard let device = try? ShopDevice(), let client = device.client else { break }
      // A push may arrive while the phone registers.
      let known = try? ShopNotifications.service?.lastSequence()
      guard let sequence = try? await client.register(device.registration) else { continue }
      // The service begins its numbers again if it has forgotten this phone.
      try? ShopNotifications.service?.restart(after: sequence, known: known)
    }
    isRunning = false
  }
}
