// SPDX-License-Identifier: Apache-2.0

/// The output that the settings name.
public struct OutputFacts: Sendable, Hashable {
  public enum Outcome: Sendable, Hashable {
    /// The output is `none`: the service plays nothing.
    case none
    /// The output plays into a file or nowhere, so there is no device to try.
    case noDevice
    /// A moment of silence was played.
    case silencePlayed(milliseconds: Int)
    /// A player of this home uses the output, so it was not tried.
    ///
    /// - Parameters:
    ///   - process: The player's process.
    ///   - lostDevice: The code of the error while the player waits for its device; nil if the player does not wait.
    case played(process: Int32, lostDevice: String?)
    /// The device was not tried, for the reason in the phrase.
    case notTried(String)
    case invalidName(String, remedy: String)
    /// Another program uses the device and does not share it.
    case busy(String)
    case failed(String, remedy: String)
  }

  /// The output's name, as in the settings.
  public var name: String
  /// The sound servers that accept connections, such as `PipeWire`.
  public var servers: [String]
  /// The number of sound cards that the kernel has; nil if it is not known.
  public var cards: Int?
  public var outcome: Outcome

  public init(name: String, servers: [String], cards: Int?, outcome: Outcome) {
    (self.name, self.servers, self.cards, self.outcome) = (name, servers, cards, outcome)
  }
}

/// The address and the port that the settings name.
public struct PortFacts: Sendable, Hashable {
  public enum Outcome: Sendable, Hashable {
    /// The port is 0, which chooses a free port.
    case any
    case free
    /// A service of Crier answers.
    ///
    /// - Parameters:
    ///   - status: The status of its `/readyz`.
    ///   - failing: The checks of `/readyz` that fail.
    ///   - pushRefusal: The reason why APNs refuses all pushes to an app, and the remedy, in sentences; nil if APNs
    ///     does not refuse them.
    case service(status: String, failing: [String], pushRefusal: String? = nil)
    case otherProgram
    case notPermitted
    /// The address cannot be used, as a phrase that says why.
    case unusable(String)
  }

  /// The address with the port, as in a URL.
  public var authority: String
  public var outcome: Outcome

  public init(authority: String, outcome: Outcome) { (self.authority, self.outcome) = (authority, outcome) }
}

/// The system's clock. Times are in whole seconds since 1970.
public struct ClockFacts: Sendable, Hashable {
  public var now: Int
  /// The time of the last change of the ledger's file; nil if there is none.
  public var ledgerChangedAt: Int?
  /// The number of seconds by which the clock of the ledger's server is ahead; nil if the ledger is on no server, or if
  /// the server did not answer.
  public var serverAheadBy: Int?
  /// Whether a time service keeps the kernel's clock right; nil if it is not known.
  public var isSynchronized: Bool?

  public init(now: Int, ledgerChangedAt: Int?, serverAheadBy: Int? = nil, isSynchronized: Bool?) {
    (self.now, self.ledgerChangedAt, self.isSynchronized) = (now, ledgerChangedAt, isSynchronized)
    self.serverAheadBy = serverAheadBy
  }
}

/// The limit of open files.
public struct OpenFileFacts: Sendable, Hashable {
  /// The limit that a process of this user can have.
  public var limit: Int
  /// The number of files that the service needs in addition to its connections.
  public var own: Int
  /// The number of connections below which the service does not start.
  public var leastConnections: Int
  /// The number of connections that the settings allow.
  public var connections: Int

  public init(limit: Int, own: Int, leastConnections: Int, connections: Int) {
    (self.limit, self.own, self.leastConnections, self.connections) = (limit, own, leastConnections, connections)
  }
}
