// SPDX-License-Identifier: Apache-2.0

import ServiceAccess

/// The rule that decides who may use a route.
enum CallAccess: Sendable, Hashable {
  /// Every client.
  case open
  /// Every client that calls the service by one of its own names. This rule protects routes whose responses a page of
  /// another site must not read in a browser.
  case openByName
  /// Clients with any key, also the own key of a device.
  case keyOfAnyScope
  /// Clients with a key that has this permission.
  case key(Permission)
  /// Clients with a key that has this permission, or with the own key of the device that the path's first parameter
  /// names.
  case keyOrOwnDevice(Permission)
  /// Clients with a key that has this permission, or with a device's own key. The route decides what the key of a
  /// device may see.
  case keyOrAnyDevice(Permission)
  /// Clients with a key that has this permission, with a device's own key, or with a signed URL. The route decides what
  /// the key of a device may fetch.
  case keyOrSignedURL(Permission)

  /// Whether only clients with a key may use the route.
  var needsKey: Bool {
    switch self {
    case .keyOfAnyScope, .key, .keyOrOwnDevice, .keyOrAnyDevice: true
    case .open, .openByName, .keyOrSignedURL: false
    }
  }

  /// The permission that a key of a backend or a person needs; nil if no permission is needed.
  var permission: Permission? {
    switch self {
    case .open, .openByName, .keyOfAnyScope: nil
    case .key(let needed), .keyOrOwnDevice(let needed), .keyOrAnyDevice(let needed), .keyOrSignedURL(let needed):
      needed
    }
  }

  /// Returns whether the owner of a valid key may use the route.
  ///
  /// - Parameter parameters: The decoded values of the parameters in the path.
  func allows(_ caller: Caller, parameters: [String]) -> Bool {
    if permission.map({ caller.scopes.allow($0) }) ?? true { return true }
    return switch self {
    case .open, .openByName, .keyOfAnyScope, .key: false
    case .keyOrOwnDevice: caller.isOwnKey(of: parameters.first)
    case .keyOrAnyDevice, .keyOrSignedURL: caller.isOwnKey(of: caller.device)
    }
  }
}
