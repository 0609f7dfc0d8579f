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
