// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Ledger {
  /// A process that uses a ledger together with processes on other machines.
  public struct Node: Sendable, Hashable {
    /// What a node says about itself.
    public struct Description: Sendable, Hashable {
      /// The name of the machine, which people know.
      public var host: String
      /// The version of the program.
      public var version: String
      /// The host and the port at which other nodes reach the service; nil if it has none, as a command.
      public var address: String?

      /// - Parameter host: The name of the machine; nil for the name that the system has.
      public init(host: String? = nil, version: String = "", address: String? = nil) {
        self.host = host ?? Self.systemHost
        self.version = version
        self.address = address
      }

      private static let systemHost: String = {
        let text = (try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)) ?? ""
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? "unknown" : name
      }()
    }
  }
}
