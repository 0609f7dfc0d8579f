// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

@testable import NotificationServiceKit

/// The hand-overs of several works, in their order.
final class HandOverRecord: Sendable {
  let handOvers = Locked<[(id: String, handOver: HandOver, at: Int64)]>([])

  func receive(
    _ push: TestPush, identifier: String? = nil, by service: NotificationService
  ) throws -> NotificationWork {
    service.receive(try push.payload, identifier: identifier) { [self] handOver in
      handOvers.withLock { $0.append((push.id, handOver, service.configuration.now())) }
    }
  }

  var sounds: [String] {
    handOvers.withLock { $0.filter { if case .silent = $0.handOver.sound { false } else { true } }.map(\.id) }
  }
}
