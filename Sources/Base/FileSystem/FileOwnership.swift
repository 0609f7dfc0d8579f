// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Who owns an open file, and who may read and change it.
package struct FileOwnership: Sendable, Hashable {
  package var isRegularFile: Bool
  /// The number of the user who owns the file.
  package var owner: UInt32
  /// The permissions, such as `0o600`.
  package var permissions: UInt32

  /// - Parameter descriptor: The descriptor of the open file. Its name could lead to another file a moment later.
  /// - Returns: nil if the system does not say.
  package init?(descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    isRegularFile = status.st_mode & S_IFMT == S_IFREG
    owner = status.st_uid
    permissions = UInt32(status.st_mode) & 0o7777
  }
}
