// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// The exclusive right to send the pushes of a ledger. Its holder is the ledger's only sender until the seat is
/// released or the process ends, however it ends.
public final class PushSeat: Sendable {
  private let lock: LockedFile

  init(lock: LockedFile) { self.lock = lock }
}

extension Ledger {
  /// Takes the right to send pushes.
  ///
  /// - Returns: nil when another sender has it, in this process or in another.
  /// - Throws: ``LedgerError`` with a file error.
  public func takePushSeat() throws(LedgerError) -> PushSeat? {
    let place = file.deletingLastPathComponent().appending(path: file.lastPathComponent + ".pushes")
    do {
      return try LockedFile(place, patience: 0).map(PushSeat.init(lock:))
    } catch {
      throw LedgerError(error, while: .pushing, in: file)
    }
  }
}
