// SPDX-License-Identifier: Apache-2.0

/// The settings and versions of a service, for people who look after it. It contains no keys.
public struct ServiceDescription: Sendable, Hashable, Encodable {
  public struct Setting: Sendable, Hashable, Encodable {
    public var name: String
    /// The value as YAML. Names of keys, and parts of URLs that may be secrets, are left out.
    public var value: String
    /// `flag`, `environment`, `file` or `default`.
    public var source: String

    public init(name: String, value: String, source: String) {
      (self.name, self.value, self.source) = (name, value, source)
    }
  }

  /// The version of Crier.
  public var version: String
  public var settings: [Setting]
  /// The versions of the libraries and programs that the service uses, by name.
  public var versions: [String: String]

  public init(version: String, settings: [Setting], versions: [String: String]) {
    (self.version, self.settings, self.versions) = (version, settings, versions)
  }
}
