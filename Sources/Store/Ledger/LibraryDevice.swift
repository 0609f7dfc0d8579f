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
    /// Whether the device has a token for background pushes, or one for notifications, which can be used for them too.
    public let hasBackground: Bool
    /// The identifiers of the containers that the device's extension shows now.
    public let containers: Set<String>

    package init(
      account: String, id: String, app: String, environment: PushEnvironment, appGroup: String?, hasFileProvider: Bool,
      hasBackground: Bool, containers: Set<String>
    ) {
      self.account = account
      self.id = id
      self.app = app
      self.environment = environment
      self.appGroup = appGroup
      self.hasFileProvider = hasFileProvider
      self.hasBackground = hasBackground
      self.containers = containers
    }
  }
}
