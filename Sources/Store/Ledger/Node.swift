// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A process that uses a ledger together with processes on other machines.
  public struct Node: Sendable, Hashable {
    /// The description that a node gives of itself.
    public struct Description: Sendable, Hashable {
      /// The name of the machine, which people know: at most 64 letters, digits, points, hyphens and underscores. Other
      /// characters become hyphens.
      public var host: String { didSet { host = Self.plain(host) } }
      /// The version of the program.
      public var version: String
      /// The host and the port at which other nodes reach the service; nil for a process without a service, such as a
      /// command.
      public var address: String?

      /// - Parameter host: The name of the machine; nil for the name that the system has.
      public init(host: String? = nil, version: String = "", address: String? = nil) {
        self.host = Self.plain(host ?? Self.systemHost)
        self.version = version
        self.address = address
      }

      private static func plain(_ text: String) -> String {
        let name = text.unicodeScalars.prefix(64).map { scalar in
          let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
          return isPlain || ".-_".unicodeScalars.contains(scalar) ? Character(scalar) : "-"
        }
        return name.isEmpty ? "unknown" : String(name)
      }

      private static var systemHost: String {
        let text = (try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)) ?? ""
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
      }
    }

    /// The id of the process: the id of its home folder, a point, and a random number of the process, both in
    /// hexadecimal digits.
    public var id: String
    public var description: Description
    public var startedAt: Date
    /// The time since the node was last heard of, in seconds, by the clock of the database.
    public var silence: TimeInterval
    /// The deliveries that the node makes.
    public var deliveries: Set<DeliverySeat.Kind>
    /// The lanes that the node plays, sorted by name.
    public var lanes: [String]
    /// The number of batches that the node works on.
    public var batches: Int
    /// The fingerprints of the things that must be the same on all nodes; empty for a process that runs no service.
    public var fingerprints: [SharedThing: String]

    /// The time after which a node that was not heard of counts as gone, in seconds.
    public static let patience: TimeInterval = 20

    package init(
      id: String, description: Description, startedAt: Date, silence: TimeInterval,
      deliveries: Set<DeliverySeat.Kind>, lanes: [String], batches: Int = 0,
      fingerprints: [SharedThing: String] = [:]
    ) {
      (self.id, self.description, self.startedAt, self.silence) = (id, description, startedAt, silence)
      (self.deliveries, self.lanes, self.batches) = (deliveries, lanes, batches)
      self.fingerprints = fingerprints
    }
  }

  /// The register of the nodes that share a ledger. A ledger in a file has no nodes.
  public protocol NodeStore: Sendable {
    /// The id of this node; nil for a ledger in a file.
    var nodeID: String? { get }

    /// Notes that this node was heard of at this moment, and forgets nodes that were not heard of for a day and own no
    /// lane.
    ///
    /// - Parameter fingerprints: Texts that are the same on two nodes exactly if the things are the same, and from which
    ///   nothing else can be learned, because everybody who may read the ledger sees them. Nil keeps those of an earlier
    ///   call.
    func noteNode(_ fingerprints: [SharedThing: String]?) async throws(LedgerError)

    /// Returns the nodes that were heard of in the last hour or hold something, sorted by the names of their machines.
    func nodes() async throws(LedgerError) -> [Node]
  }
}

extension Ledger.NodeStore {
  /// Calls ``noteNode(_:)`` with nil.
  public func noteNode() async throws(LedgerError) { try await noteNode(nil) }
}

extension Ledger.Node {
  /// The fingerprints in the form in which a ledger stores them: the name of a thing, a space and its fingerprint.
  package static func lines(_ fingerprints: [Ledger.SharedThing: String]) -> [String] {
    fingerprints.map { "\($0.key.rawValue) \($0.value)" }.sorted()
  }

  /// Reads the result of ``lines(_:)``. Lines of another form are left out.
  package static func fingerprints(_ lines: [String]) -> [Ledger.SharedThing: String] {
    lines.reduce(into: [:]) { known, line in
      let words = line.split(separator: " ", maxSplits: 1)
      guard words.count == 2, let thing = Ledger.SharedThing(rawValue: String(words[0])) else { return }
      known[thing] = String(words[1])
    }
  }
}
