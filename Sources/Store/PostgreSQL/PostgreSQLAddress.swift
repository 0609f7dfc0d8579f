// SPDX-License-Identifier: Apache-2.0

import CPQ
import ConcurrencySupport
public import Foundation

/// The address of a PostgreSQL server, and the user for the connection.
///
/// The description and errors show only its hosts and ports. The password comes only from a file, because addresses end
/// up in settings files, process lists and logs.
public struct PostgreSQLAddress: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// One of the servers that are tried in turn.
  struct Host: Sendable, Hashable {
    /// The parameters `host`, `hostaddr` and `port`, as far as the address has them.
    var parameters: [String: String]
    /// The host and the port, or the folder of the socket.
    var shown: String
  }

  /// All parameters except those of the hosts and the password.
  private(set) var parameters: [String: String]
  let hosts: [Host]
  /// The time to wait for one server to accept the connection.
  let connectTimeout: Duration
  private let passwordFile: PasswordFile?

  /// The options that the address leaves to this program. A network that swallows packets is noticed within about 10
  /// seconds while something is sent, and within about a minute while an answer is awaited.
  static let defaults = [
    "connect_timeout": "5",
    "fallback_application_name": "crier",
    "keepalives": "1",
    "keepalives_count": "3",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "target_session_attrs": "read-write",
    "tcp_user_timeout": "10000",
  ]

  /// Reads an address such as `postgresql://crier@db1.example:5432,db2.example:5432/crier?sslmode=verify-full`. The
  /// parameters are those of libpq ("Parameter Key Words" in the manual of PostgreSQL). If the address names several
  /// servers, the first one that accepts changes is used, unless the address has another `target_session_attrs`.
  ///
  /// - Parameters:
  ///   - text: The address, without a password.
  ///   - passwordFile: A file with the password in its only line. It must belong to this user or to root, and nobody
  ///     else may read it. It is read for each new connection, so a new password needs no restart.
  ///   - environment: The environment variables. libpq reads `PGUSER`, `PGSSLMODE` and others, and uses them for
  ///     everything that the address leaves out.
  /// - Throws: ``PostgreSQLError`` with `invalidAddress` or `passwordOutsideFile`.
  public init(
    _ text: String, passwordFile: URL? = nil, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(PostgreSQLError) {
    guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
      throw Self.refused("it does not begin with postgresql://")
    }
    guard !text.utf8.contains(0), var options = Self.options(of: text) else {
      throw Self.refused("libpq cannot read it: an option is unknown, or a part has the wrong form")
    }
    for name in ["password", "sslpassword"] where options[name] != nil {
      throw PostgreSQLError(.passwordOutsideFile, while: .readingAddress, subject: "the address")
    }
    if environment["PGPASSWORD"] != nil {
      throw PostgreSQLError(.passwordOutsideFile, while: .readingAddress, subject: "the variable PGPASSWORD")
    }
    for name in ["passfile", "service", "replication"] where options[name] != nil {
      throw Self.refused("the option “\(name)” is not allowed")
    }
    hosts = try Self.hosts(of: &options)
    // Texts are UTF-8 in this program, and the server converts them.
    options["client_encoding"] = "UTF8"
    if options["host"] == "" { options["host"] = nil }
    let all = Self.defaults.merging(options) { _, own in own }
    guard let seconds = all["connect_timeout"].flatMap({ Int64($0) }), 1...3600 ~= seconds else {
      throw Self.refused("the option “connect_timeout” is not a number of seconds from 1 to 3600")
    }
    connectTimeout = .seconds(seconds)
    parameters = all
    self.passwordFile = passwordFile.map(PasswordFile.init)
  }

  /// Returns the address with a setting that the server applies to each session ("Server Configuration" in the manual of
  /// PostgreSQL), unless the address has the setting already.
  ///
  /// - Parameters:
  ///   - name: The name of the setting, such as `idle_in_transaction_session_timeout`.
  ///   - value: The value, without spaces.
  public func setting(_ name: String, to value: String) -> Self {
    let options = parameters["options"] ?? ""
    guard !options.contains(name) else { return self }
    var address = self
    address.parameters["options"] = options.isEmpty ? "-c \(name)=\(value)" : "\(options) -c \(name)=\(value)"
    return address
  }

  /// The address, changed so that a server that accepts no changes, such as a standby, can be used too.
  public var acceptingReadOnlyServers: Self {
    var address = self
    address.parameters["target_session_attrs"] = "any"
    return address
  }

  /// The names and addresses of the hosts that are reached over a network, without those that are reached through a
  /// Unix socket.
  public var networkHosts: [String] {
    hosts.compactMap { $0.parameters["hostaddr"] ?? $0.parameters["host"] }.filter {
      // libpq treats a name that begins with one of these characters as a socket.
      !$0.hasPrefix("/") && !$0.hasPrefix("@")
    }
  }

  /// Checks that the password can be read from its file, if there is one. The call may block.
  ///
  /// - Throws: ``PostgreSQLError`` with `passwordFileUnusable`.
  public func checkPassword() throws(PostgreSQLError) { _ = try password() }

  /// Reads the password from its file, which may block.
  ///
  /// - Returns: Nil if there is no file.
  func password() throws(PostgreSQLError) -> String? { try passwordFile?.read() }

  /// The hosts and ports.
  public var description: String { hosts.map(\.shown).joined(separator: ", ") }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["hosts": description]) }

  /// Returns the options that an address sets; nil if libpq refuses it. libpq's own message is not used, because it
  /// quotes the address.
  private static func options(of text: String) -> [String: String]? {
    var message: UnsafeMutablePointer<CChar>?
    // Safe: the text lives as long as the call. The options end with one that has no keyword.
    let first = unsafe PQconninfoParse(text, &message)
    if let message = unsafe message { unsafe PQfreemem(message) }
    guard let first = unsafe first else { return nil }
    defer { unsafe PQconninfoFree(first) }
    var options: [String: String] = [:]
    var option = unsafe first
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val { unsafe options[String(cString: keyword)] = String(cString: value) }
      unsafe option += 1
    }
    return options
  }

  /// Takes the hosts out of the options. Each host is tried by itself, so that a host that never answers uses up only
  /// its own time limit.
  private static func hosts(of options: inout [String: String]) throws(PostgreSQLError) -> [Host] {
    func take(_ name: String) -> [String]? {
      guard let list = options.removeValue(forKey: name), !list.isEmpty else { return nil }
      return list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    let names = take("host")
    let addresses = take("hostaddr")
    let ports = take("port")
    let count = addresses?.count ?? names?.count ?? 1
    guard names == nil || names?.count == count, ports == nil || ports?.count == 1 || ports?.count == count else {
      throw refused("it does not have as many ports or addresses as hosts")
    }
    guard count <= 100 else { throw refused("it has more than 100 hosts") }
    for port in ports ?? [] where !port.isEmpty {
      guard let number = Int(port), 1...65_535 ~= number else { throw refused("a port is not from 1 to 65535") }
    }
    return (0..<count).map { index in
      var parameters: [String: String] = [:]
      let port = ports.map { $0[$0.count == 1 ? 0 : index] }
      parameters["host"] = names?[index]
      parameters["hostaddr"] = addresses?[index]
      parameters["port"] = port
      parameters = parameters.filter { !$0.value.isEmpty }
      let name = parameters["host"] ?? parameters["hostaddr"] ?? "of this machine"
      let parts = [name, parameters["port"]].compactMap(\.self)
      return Host(
        parameters: parameters, shown: name.hasPrefix("/") ? "in \(name)" : parts.joined(separator: ":"))
    }
  }

  private static func refused(_ cause: String) -> PostgreSQLError {
    PostgreSQLError(.invalidAddress, while: .readingAddress, subject: cause)
  }
}
