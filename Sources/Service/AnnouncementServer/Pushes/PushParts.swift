// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushDelivery

/// The parts of the service that send pushes.
public struct PushParts: Sendable {
  /// The client for each app and environment.
  public var clients: [PushSchedule.App: PushClient]
  /// The time for which a push is worth sending, in seconds. A push that could not be sent in this time ends as
  /// expired.
  public var lifetime: TimeInterval

  public init(clients: [PushSchedule.App: PushClient], lifetime: TimeInterval = 3600) {
    self.clients = clients
    self.lifetime = lifetime
  }
}
