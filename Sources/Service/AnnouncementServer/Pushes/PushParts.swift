// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushDelivery

/// What the service needs to send pushes.
public struct PushParts: Sendable {
  /// The client for each app and environment.
  public var clients: [PushSchedule.App: PushClient]
  /// The time for which a push is news, in seconds. A push that could not be sent within it ends as expired.
  public var lifetime: TimeInterval

  public init(clients: [PushSchedule.App: PushClient], lifetime: TimeInterval = 3600) {
    self.clients = clients
    self.lifetime = lifetime
  }
}
