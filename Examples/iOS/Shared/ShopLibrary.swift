// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import Foundation
import LibraryCopies
import NotificationServiceKit
import SoundLibrary

/// The copy of the service's clips and voice packs in the group container.
nonisolated struct ShopLibrary: Sendable {
  private let copy: LibraryCopy

  /// - Returns: Nil before the backend has registered this phone.
  init?(_ device: ShopDevice) {
    guard let client = device.client else { return nil }
    copy = LibraryCopy(client: client, container: device.container)
  }

  /// The change of the library up to which the copy is complete.
  var anchor: String? { copy.manifest().anchor }

  /// Fetches what has changed. iOS is asked for time to end the work, and the work is cancelled when the time is over.
  ///
  /// - Throws: `LibraryCopyError`, or a cancellation.
  func update() async throws {
    try await ExpiringActivity.run("Copying the sound library") { [copy] in _ = try await copy.update() }
  }
}
