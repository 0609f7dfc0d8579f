// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
  import CMalloc
#endif

/// How a program that makes clips uses memory.
public enum Memory {
  /// Keeps the memory of a clip's samples for the next clip's. To be called at a program's start.
  ///
  /// A clip goes through a dozen arrays of a hundred thousand bytes and more, each of which glibc's `malloc` takes from the
  /// system and gives back to it, page by page: a third of the time that mastering takes (0.6 ms a clip of 3 s).
  public static func keepBuffers() {
    #if os(Linux)
      // Larger ones are still the system's, such as the body of a list. What is kept unused is bounded by the number of
      // arenas, of which glibc makes eight a core if it is not told otherwise.
      mallopt(M_MMAP_THRESHOLD, 4 << 20)
      mallopt(M_TRIM_THRESHOLD, 8 << 20)
      mallopt(M_ARENA_MAX, 4)
    #endif
  }
}
