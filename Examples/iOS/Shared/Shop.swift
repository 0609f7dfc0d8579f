// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The names of this app. Change them to your own; the README says where else they stand.
nonisolated enum Shop {
  static let appGroup = "group.com.example.shop"
  static let bundleID = "com.example.shop"
  /// The Crier service.
  static let service = "https://crier.example"
  /// The shop's own backend, which registers this device with Crier; see ``ShopDevice``.
  static let backend = "https://shop.example/api/crier-device"
}
