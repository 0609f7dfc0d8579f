// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import GRDB

/// The connections for reads of a few rows. A read takes a connection without other reads, or else the connection with
/// the fewest reads, so that it does not wait behind a single read that takes long.
///
/// The first connections are preferred, because each connection has its own cache of pages and of compiled statements.
final class ReadConnections: Sendable {
  /// The number of connections, and so of reads that can run at the same time. Further reads wait.
  static let count = 3

  private let connections: [DatabaseQueue]
  /// The number of unfinished reads of each connection.
  private let underWay: Locked<[Int]>

  init(_ connections: [DatabaseQueue]) {
    self.connections = connections
    underWay = Locked(connections.map { _ in 0 })
  }

  /// Performs a read on a free connection or, if none is free, on one with the fewest reads under way.
  func read(_ work: @escaping @Sendable (Database) -> Void) {
    let place = underWay.withLock { counts in
      let place = counts.indices.reduce(0) { counts[$1] < counts[$0] ? $1 : $0 }
      counts[place] += 1
      return place
    }
    connections[place].asyncWriteWithoutTransaction { [self] database in
      defer { underWay.withLock { $0[place] -= 1 } }
      work(database)
    }
  }
}
