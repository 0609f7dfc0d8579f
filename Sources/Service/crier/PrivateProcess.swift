// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Process settings that keep other users from the files that a process leaves behind.
enum PrivateProcess {
  /// Sets the umask so that other users can never write to new files, whatever the user's own umask allows.
  static func keepFilesUnwritable() { umask(umask(0o022) | 0o022) }

  /// Disables core files, because the memory contains keys, amounts and names. Child processes inherit the setting.
  static func leaveNoCoreFile() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    // Lowering a limit is always allowed.
    setrlimit(resource, &limit)
  }
}
