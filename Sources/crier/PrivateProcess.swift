// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a process leaves behind for others to find.
enum PrivateProcess {
  /// Sees to it that no file that is made can be written by others, whatever the user's umask.
  static func keepFilesUnwritable() { umask(umask(0o022) | 0o022) }

  /// Sees to it that a crash writes no core file: the memory in it has keys, and amounts with names. Programs that are
  /// started later inherit it.
  static func leaveNoCoreFile() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
      let resource = RLIMIT_CORE
    #endif
    // To lower a limit is always allowed.
    setrlimit(resource, &limit)
  }
}
