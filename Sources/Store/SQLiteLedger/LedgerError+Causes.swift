// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import GRDB

extension LedgerError {
  /// Converts any error of GRDB or of this module. GRDB's own text is never used, because it may contain an SQL
  /// statement.
  init(_ error: any Error, while action: Action, in file: URL) {
    switch error {
    case let error as LedgerError:
      self = error
    case let error as SystemError:
      self.init(Code(systemError: error.number), while: action, in: file, systemError: error.number)
    case let error as DatabaseError:
      self.init(
        Code(resultCode: error.extendedResultCode), while: action, in: file,
        resultCode: error.extendedResultCode.rawValue)
    case is UnreadableRow:
      self.init(.damaged, while: action, in: file)
    default:
      self.init(.systemFailure, while: action, in: file)
    }
  }

  /// Whether the error would affect every write of a shared transaction, so that retrying each write separately is
  /// useless.
  var meetsEveryWrite: Bool {
    switch code {
    case .busy, .damaged, .fileChanged, .notALedger, .newerVersion, .olderVersion, .readOnly, .notPermitted,
      .wrongKindOfFile:
      true
    case .systemFailure: resultCode.map { ResultCode(rawValue: $0).primaryResultCode == .SQLITE_IOERR } ?? true
    default: false
    }
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

  init(systemError: Int32) {
    switch systemError {
    case ENOSPC, EDQUOT: self = .diskFull
    case EROFS: self = .readOnly
    case EACCES, EPERM: self = .notPermitted
    case EISDIR, ENOTDIR, ELOOP: self = .wrongKindOfFile
    default: self = .systemFailure
    }
  }
}

/// The error for a row whose values the schema does not allow.
struct UnreadableRow: Error {}
