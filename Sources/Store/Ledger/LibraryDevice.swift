// SPDX-License-Identifier: Apache-2.0

public import PushMessages

extension Ledger {
  /// A device that gets pushes about changes of the library.
  public struct LibraryDevice: Sendable, Hashable {
    public let account: String
    public let id: String
    public let app: String
    public let environment: PushEnvironment
    public let appGroup: String?
    /// Whether the device has a token for file-provider pushes.
    public let hasFileProvider: Bool
    /// Whether the device has a token for background pushes or for notifications. A background push can use either of
    /// them.
    public let hasBackground: Bool
    /// The identifiers of the containers that the device's extension shows now.
    public let containers: Set<String>
  }
}

extension Ledger.LibraryDevice {
  package init(row: some StoredRow, containers: Set<String>) throws {
    self.init(
      account: try row.value("account"), id: try row.value("id"), app: try row.value("app"),
      environment: try row.name("environment"), appGroup: try row.optional("app_group"),
      hasFileProvider: try row.value("has_file_provider"), hasBackground: try row.value("has_background"),
      containers: containers)
  }
}
