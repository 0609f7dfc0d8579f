// SPDX-License-Identifier: Apache-2.0

import ServiceAccess

/// The rule that decides who may use a route.
enum CallAccess: Sendable, Hashable {
  /// Every client.
  case open
  /// Every client that calls the service by one of its own names. This rule protects routes whose responses a page of
  /// another site must not read in a browser.
  case openByName
  /// Clients with a key that has this scope.
  case key(Scope)
  /// Clients with a key that has this scope, or with the own key of the device that the path's first parameter names.
  case keyOrOwnDevice(Scope)
  /// Clients with a key that has this scope, or with a device's own key. The route decides what the key of a device may
  /// see.
  case keyOrAnyDevice(Scope)
  /// Clients with a key that has this scope, with a device's own key, or with a signed URL. The route decides what the
  /// key of a device may fetch.
  case keyOrSignedURL(Scope)

  /// Whether only clients with a key may use the route.
  var needsKey: Bool {
    switch self {
    case .key, .keyOrOwnDevice, .keyOrAnyDevice: true
    case .open, .openByName, .keyOrSignedURL: false
    }
  }
}
