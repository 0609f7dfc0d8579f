// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import GRDB

extension DatabaseQueue {
  /// Opens the file of a ledger while the ledger is open, or after it was closed. A connection of the ledger may hold a
  /// lock for a moment. SQLite waits for this lock; by default, it would give up at once.
  public convenience init(waitingFor file: URL) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(30)
    try self.init(path: file.path(percentEncoded: false), configuration: configuration)
  }
}
