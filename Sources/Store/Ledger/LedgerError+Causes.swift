// SPDX-License-Identifier: Apache-2.0

import FileSystem
package import Foundation

extension LedgerError {
  /// Converts any error of this module or of the system. The text of another error is never used, because it may
  /// contain a statement of SQL.
  package init(cause error: any Error, while action: Action, in file: URL) {
    switch error {
    case let error as LedgerError:
      self = error
    case let error as SystemError:
      self.init(Code(systemError: error.number), while: action, in: file, systemError: error.number)
    case is UnreadableRow:
      self.init(.damaged, while: action, in: file)
    default:
      self.init(.systemFailure, while: action, in: file)
    }
  }
}

extension LedgerError {
  /// Whether the error would affect every write of a shared transaction, so that retrying each write separately is
  /// useless. If the outcome of a commit is unknown, only each caller can decide whether to repeat its write.
  package var meetsEveryWrite: Bool {
    switch code {
    case .busy, .unreachable, .outcomeUnknown, .damaged, .fileChanged, .notALedger, .newerVersion, .olderVersion,
      .readOnly, .notPermitted, .wrongKindOfFile:
      true
    // SQLite's primary code 10 is an error of the disk. On a server, `systemFailure` is the error of a single
    // statement.
    case .systemFailure: file != nil && resultCode.map { $0 & 0xFF == 10 } ?? true
    default: false
    }
  }
}

extension LedgerError.Code {
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

/// The error for a row whose values the tables do not allow.
package struct UnreadableRow: Error {
  package init() {}
}
