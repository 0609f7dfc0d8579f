// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import Foundation
import NotificationServiceKit
import PushMessages

/// Registers this phone with the service whenever a token or the tone has changed.
///
/// The app and its file-provider extension share the tokens, and a registration replaces the one before. Two processes
/// may register at the same time, so each looks at the tokens again after its call, and repeats the call if they have
/// changed meanwhile. The last registration therefore has all tokens.
actor ShopRegistration {
  static let shared = ShopRegistration()

  private var isRunning = false
  private var mustRepeat = false

  /// Stores a token that has changed, and registers the phone.
  ///
  /// - Parameter token: The token; nil if the former one became invalid.
  func changed(_ kind: PushTokenKind, to token: Data?) async {
    try? await ExpiringActivity.run("Storing a push token") {
      _ = try ShopDevice().changeTokens { tokens in
        if let token { tokens.receive(token, kind) } else { tokens.invalidate(kind) }
      }
    }
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
      // The tokens and the order of the notifications are locked at times.
      let hasChanged = try? await ExpiringActivity.run("Registering this phone") { try await Self.registerOnce() }
      if hasChanged == true { mustRepeat = true }
    }
    isRunning = false
  }

  /// - Returns: Whether the tokens have changed during the call, so that it must be repeated.
  /// - Throws: The error of the call. The tokens then count as not registered.
  private static func registerOnce() async throws -> Bool {
    let device = try ShopDevice()
    guard let client = device.client,
      case .register(let tokens) = try device.changeTokens({ $0.registerAgain() })
    else { return false }
    // A push may arrive while the phone registers.
    let known = try? ShopNotifications.service?.lastSequence()
    let sequence = try await client.register(device.registration(with: tokens))
    // The service begins its numbers again if it has forgotten this phone.
    try? ShopNotifications.service?.restart(after: sequence, known: known)
    return try device.changeTokens { stored in
      // A stored value knows nothing of the call, so it is begun and ended here.
      guard case .register(let latest) = stored.registerAgain(), latest == tokens else { return true }
      _ = stored.registrationEnded(true)
      return false
    }
  }
}
