// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The limit of open files. Each connection uses an open file, and system libraries end a process that cannot open
/// their files.
enum OpenFiles {
  /// The error for a limit that is too low for the service.
  struct TooFew: Error, CustomStringConvertible {
    var limit: Int
    var needed: Int
    var description: String {
      "the limit of open files is \(limit), but the service needs \(needed); raise it with ulimit -n or LimitNOFILE."
    }
  }

  /// The number of connections below which the service does not start.
  static let leastConnections = 16
  /// The limit that the service asks for.
  private static let wanted: rlim_t = 65_536

  /// Returns the number of files that the service needs in addition to its connections.
  static func own(speakers: Int) -> Int { 128 + 4 * speakers }

  /// The limit that ``connections(atMost:speakers:)`` would reach, without changing it; nil if it cannot be read.
  static var reachableLimit: Int? {
    current.map { Int(clamping: min($0.rlim_max, max($0.rlim_cur, wanted))) }
  }

  /// Raises this process's limit of open files as far as the system allows.
  ///
  /// - Returns: The number of connections that can be open in addition to the service's own files.
  /// - Throws: ``TooFew``.
  static func connections(atMost most: Int, speakers: Int) throws(TooFew) -> Int {
    guard var limit = current else { return most }
    limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, wanted))
    _ = setrlimit(resource, &limit)
    guard let limit = current else { return most }
    let files = Int(clamping: limit.rlim_cur)
    let own = own(speakers: speakers)
    guard files >= own + leastConnections else { throw TooFew(limit: files, needed: own + leastConnections) }
    return min(most, files - own)
  }

  private static var current: rlimit? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? limit : nil
  }

  #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let resource = RLIMIT_NOFILE
  #endif
}
