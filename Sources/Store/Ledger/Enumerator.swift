// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A container that the file-provider extension of a device shows now.
  public struct Enumerator: Sendable, Hashable {
    /// The identifier of the container.
    public let container: String
    public let registeredAt: Date
    /// Whether the call that returned this value has added the container.
    public let isNew: Bool

    package init(container: String, registeredAt: Date, isNew: Bool) {
      self.container = container
      self.registeredAt = registeredAt
      self.isNew = isNew
    }
  }
}

extension Ledger.Enumerator {
  /// Reads a container that was added before.
  package init(row: some StoredRow) throws {
    self.init(container: try row.value("container"), registeredAt: try row.value("registered_at"), isNew: false)
  }
}
