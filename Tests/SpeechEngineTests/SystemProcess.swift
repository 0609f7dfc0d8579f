// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
  import Foundation

  /// Reads the system's list of processes.
  enum SystemProcess {
    /// Returns the direct children, the oldest first.
    static func children(of process: Int32) throws -> [Int32] {
      try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        .split(separator: " ").compactMap { Int32($0) }
    }
  }
#endif
