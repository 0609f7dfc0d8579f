// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import CMemoryFile
  import Glibc
#endif

/// Bytes that never change, in a file that has no name and is only in memory (memfd_create(2)). The operating system can
/// send them with sendfile(2), which does not copy them.
///
/// Each value needs one file descriptor. The file is not in the memory of the process, so it does not count as its
/// resident memory, but it does count as memory of the process's control group.
package final class MemoryFile: Sendable {
  package let byteCount: Int
  /// Valid as long as this value.
  package let descriptor: Int32

  /// Copies bytes into a new file.
  ///
  /// - Returns: nil if the system has no such files, or no descriptor or memory for one more.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    #if canImport(Glibc)
      // unsafe: the name is a literal. It is shown only in /proc.
      let descriptor = unsafe memfd_create("crier", memory_file_close_on_exec | memory_file_allow_sealing)
      guard descriptor >= 0 else { return nil }
      var rest = unsafe bytes[...]
      while unsafe !rest.isEmpty {
        // unsafe: no more is read than the rest has.
        let count = unsafe write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        guard count > 0 else { break }
        unsafe rest.removeFirst(count)
      }
      guard unsafe rest.isEmpty, fcntl(descriptor, memory_file_add_seals, memory_file_all_seals) == 0 else {
        _ = close(descriptor)
        return nil
      }
      self.descriptor = descriptor
      byteCount = bytes.count
    #else
      return nil
    #endif
  }

  deinit {
    #if canImport(Glibc)
      _ = close(descriptor)
    #endif
  }

  /// Returns a copy of a part of the bytes. What lies outside the file is left out.
  package func bytes(in range: Range<Int>) -> [UInt8] {
    #if canImport(Glibc)
      let range = range.clamped(to: 0..<byteCount)
      return unsafe [UInt8](unsafeUninitializedCapacity: range.count) { space, count in
        // unsafe: no more is written than there is room for. A file in memory gives all of its bytes at once.
        count = max(0, unsafe pread(descriptor, space.baseAddress, range.count, range.lowerBound))
      }
    #else
      return []
    #endif
  }
}
