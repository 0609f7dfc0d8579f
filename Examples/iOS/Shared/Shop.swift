// SPDX-License-Identifier: Apache-2.0

import PhoneRegistration
import SoundDownloadsURLSession

/// The names of this app. Change them to your own; the README says where else they stand.
nonisolated enum Shop {
  static let appGroup = "group.com.example.shop"
  static let bundleID = "com.example.shop"
  /// The Crier service.
  static let service = "https://crier.example"
  /// The shop's own backend, which registers this phone with Crier.
  static let backend = "https://shop.example/api/crier-device"

  /// What the app and its extensions know about Crier; nil if this program is not a member of the app group.
  static let phone = try? PhoneSettings(
    appGroup: appGroup, service: service, bundleID: bundleID, fetcher: URLSessionSoundFetcher())

  /// The registration of this phone, in the app and in its file provider.
  static let registration = phone.flatMap { try? PhoneRegistration($0, appGroup: appGroup) }
}
