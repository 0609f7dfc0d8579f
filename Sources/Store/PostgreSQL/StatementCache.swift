// SPDX-License-Identifier: Apache-2.0

/// The statements that a connection has prepared, by their texts and the types of their parameters. The cache only counts
/// them: the connection sends the statements to the server.
///
/// When the cache is full, the connection runs further statements without preparing them. Before its next work, it
/// forgets all prepared statements (``mustBeEmptied``).
struct StatementCache {
  struct Key: Hashable {
    let sql: String
    let types: [UInt32]
  }

  /// How a statement is run.
  enum Way: Hashable {
    /// It is prepared under this name.
    case prepared(String)
    /// It has to be prepared under this name first.
    case new(String)
    /// It is run without being prepared.
    case unnamed
  }

  let most: Int
  private var names: [Key: String] = [:]
  private var count = 0
  /// Whether the cache had no room for a statement, or PostgreSQL refused a prepared statement because a table has
  /// changed.
  private(set) var mustBeEmptied = false

  init(most: Int) { self.most = most }

  /// Returns how to run a statement. A new name is used up by this call, whether or not the statement is prepared.
  mutating func way(for key: Key) -> Way {
    if let name = names[key] { return .prepared(name) }
    guard names.count < most else {
      mustBeEmptied = true
      return .unnamed
    }
    count += 1
    let name = "crier_\(count)"
    names[key] = name
    return .new(name)
  }

  /// Forgets a statement that could not be prepared.
  mutating func forget(_ key: Key) { names[key] = nil }

  /// Notes that PostgreSQL refused a statement for a reason that may lie in its preparation.
  mutating func note(sqlState: String) {
    // The plan's result type changed, or the connection lost its statements, for example in a proxy.
    if sqlState == "0A000" || sqlState == "26000" { mustBeEmptied = true }
  }

  /// Forgets all statements, after the server has done so.
  mutating func empty() {
    names = [:]
    mustBeEmptied = false
  }
}
