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
  /// Clients with a key that has this scope, or with a signed URL.
  case keyOrSignedURL(Scope)
}
