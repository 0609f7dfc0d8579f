// SPDX-License-Identifier: Apache-2.0

import NotificationServiceKit
import PhoneRegistration
import SwiftUI
import UIKit

@main
struct ShopApp: App {
  @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate
  @Environment(\.scenePhase) private var phase

  var body: some Scene {
    WindowGroup {
      NavigationStack { TonePage() }
    }
    .onChange(of: phase) { _, phase in
      guard phase == .active else { return }
      // Payments whose pushes were lost are added as local notifications.
      Task { await Shop.registration?.notifications?.catchUp() }
    }
  }
}
