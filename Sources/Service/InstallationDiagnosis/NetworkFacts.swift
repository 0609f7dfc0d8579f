// SPDX-License-Identifier: Apache-2.0

import TextFormats

/// The connection to the servers of pushes.
public struct PushFacts: Sendable, Hashable {
  /// A server to which pushes are sent.
  public struct Server: Sendable, Hashable {
    public enum Outcome: Sendable, Hashable {
      /// A connection was opened, with TLS and HTTP/2.
      case connected(milliseconds: Int)
      /// No connection could be opened. The sentence says why and what to check.
      case failed(String)
    }

    /// The host and the port.
    public var name: String
    public var outcome: Outcome

    public init(name: String, outcome: Outcome) { (self.name, self.outcome) = (name, outcome) }
  }

  /// The number of apps to which pushes are sent; 0 for a service that sends none.
  public var apps: Int
  /// Whether pushes to at least one app go through Apple's servers, and not through a server of the settings.
  public var usesApple: Bool
  public var servers: [Server]
  /// The error of a `public_url` from which phones cannot fetch clips, as a sentence; nil if there is none.
  public var publicURLFault: String?

  public init(apps: Int = 0, usesApple: Bool = false, servers: [Server] = [], publicURLFault: String? = nil) {
    (self.apps, self.usesApple, self.servers, self.publicURLFault) = (apps, usesApple, servers, publicURLFault)
  }
}

/// A speech server of the settings.
public struct SpeechServerFacts: Sendable, Hashable {
  public enum Outcome: Sendable, Hashable {
    /// The server said which program and voice it uses.
    ///
    /// - Parameters:
    ///   - identity: The program, the voice and their versions, in one line.
    ///   - tested: The locales for which `crier voices test` passed this version of the voice.
    case answered(identity: String, milliseconds: Int, tested: [String])
    /// The server did not answer. The sentence says why and what to check.
    case failed(String)
  }

  public var id: String
  /// Whether the settings let the voice say amounts, whatever its test said; nil if the test decides.
  public var saysAmounts: Bool?
  public var locales: [String]
  public var outcome: Outcome

  public init(id: String, saysAmounts: Bool?, locales: [String], outcome: Outcome) {
    (self.id, self.saysAmounts, self.locales, self.outcome) = (id, saysAmounts, locales, outcome)
  }
}

/// The systemd unit that runs the service, and the machines to which it lets the service connect.
public struct UnitFacts: Sendable, Hashable {
  /// The unit's name, such as `crier.service`.
  public var name: String
  /// Whether the unit allows no address of the public internet.
  public var isClosed: Bool
  /// The push servers and name servers whose addresses the unit blocks, although it is not closed.
  public var blockedServers: [String]
  /// The hosts of the ledger's server whose addresses the unit blocks.
  public var blockedLedgerHosts: [String]
  /// The path of the drop-in that opens the network.
  public var dropIn: String

  public init(
    name: String, isClosed: Bool, blockedServers: [String] = [], blockedLedgerHosts: [String] = [], dropIn: String
  ) {
    (self.name, self.isClosed, self.dropIn) = (name, isClosed, dropIn)
    (self.blockedServers, self.blockedLedgerHosts) = (blockedServers, blockedLedgerHosts)
  }

  /// The commands that install the drop-in, for root.
  public var openingCommands: [String] {
    [
      "install -D -m 644 \(Shell.quoted(dropIn)) \(Shell.quoted("/etc/systemd/system/\(name).d/network.conf"))",
      "systemctl daemon-reload && systemctl restart \(Shell.quoted(name))",
    ]
  }

  /// The warning at the start of a service whose unit blocks pushes or webhooks.
  ///
  /// - Parameters:
  ///   - hasPushes: Whether the settings name apps to which pushes are sent through Apple's servers.
  ///   - hasWebhooks: Whether there are webhook endpoints, whose receivers must be on other machines.
  /// - Returns: Nil if the unit blocks neither pushes nor webhooks.
  public func startWarning(hasPushes: Bool, hasWebhooks: Bool) -> String? {
    guard isClosed, hasPushes || hasWebhooks else { return nil }
    let what = [hasPushes ? "pushes" : nil, hasWebhooks ? "webhooks" : nil].compactMap { $0 }.joined(separator: " and ")
    return "The unit \(name) lets the service connect to no machine on the internet, so \(what) will wait. To open its "
      + "network, run as root: " + openingCommands.joined(separator: " && ")
  }
}
