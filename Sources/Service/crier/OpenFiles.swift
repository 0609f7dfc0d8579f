// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The limit of open files. Each connection uses an open file, and system libraries end a process that cannot open
/// their files.
enum OpenFiles {
  /// The number of connections below which the service does not start.
  static let leastConnections = 16
  /// The limit that the service asks for.
  private static let wanted: rlim_t = 65_536

  /// Returns the number of files that the service needs in addition to its connections.
  static func own(speakers: Int) -> Int { 128 + 4 * speakers }

  /// The limit that ``connections(atMost:speakers:)`` would set; nil if the present limit cannot be read.
  static var reachableLimit: Int? {
    current.map { Int(clamping: min($0.rlim_max, max($0.rlim_cur, wanted))) }
  }

  /// Raises this process's limit of open files as far as the system allows.
  ///
  /// - Returns: The number of connections that can be open in addition to the service's own files.
  /// - Throws: ``CommandError`` if the limit is too low for the service.
  static func connections(atMost most: Int, speakers: Int) throws(CommandError) -> Int {
    guard var limit = current else { return most }
    limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, wanted))
    _ = setrlimit(resource, &limit)
    guard let limit = current else { return most }
    let files = Int(clamping: limit.rlim_cur)
    let own = own(speakers: speakers)
    let needed = own + leastConnections
    guard files >= needed else {
      throw CommandError(
        69,
        "the limit of open files is \(files), but the service needs \(needed); raise it with ulimit -n or LimitNOFILE.")
    }
    return min(most, files - own)
  }

  private static var current: rlimit? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? limit : nil
  }

  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
