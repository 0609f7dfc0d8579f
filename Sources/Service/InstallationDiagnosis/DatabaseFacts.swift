// SPDX-License-Identifier: Apache-2.0

/// The ledger's database on a PostgreSQL server.
public struct DatabaseFacts: Sendable, Hashable {
  /// The tables of the ledger, compared with those of this version.
  public enum Tables: Sendable, Hashable {
    /// The database has no tables of the ledger yet.
    case none
    /// The database lacks the changes of newer versions.
    ///
    /// - Parameter missing: The number of changes that this version makes.
    case older(missing: Int)
    case current
    /// A newer version has changed the tables. This version can use them.
    case newer
    /// The tables are those of another program.
    case foreign
  }

  /// Something that must be the same on all machines that share the ledger, and is not.
  public struct Difference: Sendable, Hashable {
    /// The name of the thing, such as `lexicon` or `setting:locale`; docs/cluster.md lists the names.
    public var thing: String
    /// The names of the machines, in groups that have the same.
    public var machines: [[String]]
    /// Whether the difference is normal while the machines are upgraded one after another.
    public var isOfUpgrade: Bool

    public init(thing: String, machines: [[String]], isOfUpgrade: Bool) {
      (self.thing, self.machines, self.isOfUpgrade) = (thing, machines, isOfUpgrade)
    }
  }

  /// The answer of the server.
  public struct Answer: Sendable, Hashable {
    /// The server's version, such as `15.14`.
    public var version: String
    public var milliseconds: Int
    /// The size of the database in bytes.
    public var bytes: Int64
    public var tables: Tables
    /// Whether the server is a standby, which accepts no changes.
    public var isStandby: Bool
    /// The settings of the server with which a commit may be lost after it was confirmed, such as `fsync=off`; nil if
    /// confirmed commits survive a loss of power.
    public var unsafeSettings: String?
    /// The number of seconds by which the server's clock is ahead of this machine's.
    public var secondsAhead: Int
    /// Nil if the tables are not current.
    public var contents: LedgerFacts.Contents?
    /// What differs between the machines whose services run now.
    public var differences: [Difference]

    public init(
      version: String, milliseconds: Int, bytes: Int64, tables: Tables, isStandby: Bool = false,
      unsafeSettings: String? = nil, secondsAhead: Int = 0, contents: LedgerFacts.Contents? = nil,
      differences: [Difference] = []
    ) {
      (self.version, self.milliseconds, self.bytes, self.tables) = (version, milliseconds, bytes, tables)
      (self.isStandby, self.unsafeSettings, self.secondsAhead) = (isStandby, unsafeSettings, secondsAhead)
      (self.contents, self.differences) = (contents, differences)
    }
  }

  public enum Outcome: Sendable, Hashable {
    case answered(Answer)
    /// The database cannot be used, for the reason of the problem.
    case failed(InstallationProblem)
  }

  /// The hosts and ports of the servers.
  public var server: String
  public var outcome: Outcome

  public init(server: String, outcome: Outcome) { (self.server, self.outcome) = (server, outcome) }

  /// The answer; nil if there was none.
  public var answer: Answer? {
    if case .answered(let answer) = outcome { answer } else { nil }
  }
}
