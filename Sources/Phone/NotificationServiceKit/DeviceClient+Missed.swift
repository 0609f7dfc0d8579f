// SPDX-License-Identifier: Apache-2.0

public import DeviceClient
public import Foundation

extension DeviceClient: MissedAnnouncements {
  public func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) {
    let found: CaughtUp = try await announcements(after: sequence)
    return (found.announcements.map(\.payload), found.isComplete)
  }
}
