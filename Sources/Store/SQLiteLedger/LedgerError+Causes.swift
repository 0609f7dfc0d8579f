// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger

extension LedgerError {
  /// Converts any error of GRDB, of the system or of a ledger. GRDB's own text is never used, because it may contain an
  /// SQL statement.
  init(_ error: any Error, while action: Action, in file: URL) {
    guard let error = error as? DatabaseError else {
      self.init(cause: error, while: action, in: file)
      return
    }
    self.init(
      Code(resultCode: error.extendedResultCode), while: action, in: file,
      resultCode: error.extendedResultCode.rawValue)
  }
}

extension LedgerError.Code {
  init(resultCode: ResultCode) {
    switch resultCode {
    // The shared memory of the write-ahead log could not grow. SQLite reports FULL only for its other files.
    case .SQLITE_IOERR_SHMSIZE: self = .diskFull
    case .SQLITE_IOERR_CORRUPTFS, .SQLITE_IOERR_DATA: self = .damaged
    case .SQLITE_IOERR_AUTH, .SQLITE_IOERR_ACCESS: self = .notPermitted
    case .SQLITE_CANTOPEN_ISDIR: self = .wrongKindOfFile
    default:
      switch resultCode.primaryResultCode {
      case .SQLITE_FULL: self = .diskFull
      case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: self = .busy
      case .SQLITE_READONLY: self = .readOnly
      case .SQLITE_PERM, .SQLITE_CANTOPEN, .SQLITE_AUTH: self = .notPermitted
      case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: self = .damaged
      default: self = .systemFailure
      }
    }
  }
}
