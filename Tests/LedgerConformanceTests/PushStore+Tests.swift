// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport

extension Ledger.PushStore {
  /// Returns the pushes to a device of the account `shop`, in the order of their numbers.
  func pushes(to device: String = "phone-1", after: Int64 = 0, limit: Int = 100) async throws -> [Ledger.Push] {
    try await pushes(account: "shop", device: device, afterSequence: after, limit: limit)
  }
}

/// An answer of the account `shop`, without details for webhooks.
func plainAnswer(_ id: String, key: String? = nil, clip: String? = nil) -> NewAnswer {
  NewAnswer(
    account: "shop", key: key ?? "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data(),
    clip: clip.map { PublishedClip(name: $0, group: nil) })
}
