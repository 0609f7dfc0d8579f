// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// The record of the accepted pushes. When the record is full, the oldest push is forgotten.
struct AcceptedPushes {
  private(set) var entries: [UUID: RecordedPush] = [:]
  /// The ids of the entries, oldest first.
  private var order = CircularBuffer<UUID>()
  private let size: Int

  /// - Parameter size: The maximum number of entries, at least 1.
  init(size: Int) { self.size = max(1, size) }

  /// Counts an accepted request.
  ///
  /// - Returns: Whether the record has no earlier request with this id.
  mutating func accept(_ id: UUID, device: String) -> Bool {
    let isNew = entries[id] == nil
    if isNew {
      if order.count == size { entries[order.removeFirst()] = nil }
      order.append(id)
    }
    entries[id, default: RecordedPush(device: device)].accepted += 1
    return isNew
  }

  /// Notes the fate of a push, unless the push is forgotten.
  mutating func set(_ fate: RecordedPush.Fate, of id: UUID) { entries[id]?.fate = fate }

  /// Counts a delivery of a push, unless the push is forgotten.
  mutating func deliver(_ id: UUID) {
    entries[id]?.delivered += 1
    entries[id]?.fate = .delivered
  }
}
