// SPDX-License-Identifier: Apache-2.0

import CLinux

/// The memory settings of a program that renders clips.
public enum Memory {
  /// Keeps freed sample buffers, so that they can be used for the next clip. Call it at the start of the program.
  ///
  /// Rendering a clip uses a dozen arrays, each larger than a hundred thousand bytes. By default, glibc's `malloc`
  /// requests such an array from the system, and the system provides its memory page by page. These requests take a
  /// third of the time of mastering (0.6 ms for a clip of 3 s).
  public static func keepBuffers() {
    // Larger allocations, such as the body of a list, are still returned to the system. The number of arenas limits
    // the unused memory. By default, glibc permits at most eight arenas for each core.
    set_malloc_limits(4 << 20, 8 << 20, 4)
  }
}
