// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import GRDB

extension DatabaseQueue {
  /// Opens the file of a ledger beside the ledger, or after it: its connections may still be closing, and hold a lock
  /// meanwhile. Without this, SQLite gives up at once.
  public convenience init(waitingFor file: URL) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(30)
    try self.init(path: file.path(percentEncoded: false), configuration: configuration)
  }
}
