// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The error of a system call: its `errno`.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  package var number: Int32

  package init(number: Int32) { self.number = number }

  /// The error of this thread's last system call. Read it before another call can set `errno`.
  package static var last: SystemError { SystemError(number: errno) }

  package enum Kind: Sendable {
    case missing, exists, interrupted, busy
    case noSpace, readOnly, notPermitted, tooLarge, notAFolder, notAFile, tooManyOpenFiles
    case invalid
    case other
  }

  /// The meaning of the `errno` on this system.
  package var kind: Kind {
    switch number {
    case ENOENT: .missing
    case EEXIST: .exists
    case EINTR: .interrupted
    case EWOULDBLOCK: .busy
    case ENOSPC, EDQUOT: .noSpace
    case EROFS: .readOnly
    case EACCES, EPERM: .notPermitted
    case EFBIG: .tooLarge
    case ENOTDIR: .notAFolder
    case EISDIR: .notAFile
    case EMFILE, ENFILE: .tooManyOpenFiles
    case EINVAL: .invalid
    default: .other
    }
  }

  /// The C library's text for the `errno`.
  package var description: String {
    unsafe String(cString: strerror(number))  // Safe: strerror has a text for every number; it is copied at once.
  }

  package static let missing = SystemError(number: ENOENT)
  package static let notAFolder = SystemError(number: ENOTDIR)
  package static let notAFile = SystemError(number: EISDIR)
  package static let tooLarge = SystemError(number: EFBIG)
  package static let busy = SystemError(number: EWOULDBLOCK)
  package static let inputOutput = SystemError(number: EIO)

  /// Whether the error means that a symbolic link was refused. Linux and BSD use different numbers for this.
  package var isRefusedLink: Bool { number == ELOOP || number == EMLINK }

  /// Whether the error means that a socket, or a device without a driver, was refused. BSD has a separate number for
  /// sockets.
  package var isRefusedSocket: Bool { number == ENXIO || number == ENODEV || number == EOPNOTSUPP }
}

/// This conformance gives the error the domain and code of Foundation's POSIX errors, so that code that checks for
/// those errors also recognizes this error.
extension SystemError: CustomNSError {
  package static var errorDomain: String { NSPOSIXErrorDomain }
  package var errorCode: Int { Int(number) }
}
