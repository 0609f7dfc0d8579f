// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
  import Foundation
  import Testing

  @testable import FileSystem

  @Suite("Files in memory")
  struct MemoryFileTests {
    private func file(_ bytes: [UInt8]) throws -> MemoryFile {
      try #require(unsafe bytes.withUnsafeBytes { unsafe MemoryFile($0) })
    }

    @Test("a file has the bytes with which it was made", arguments: [0, 1, 4_096, 1_000_001])
    func bytes(count: Int) throws {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let file = try file(bytes)
      #expect(file.byteCount == count)
      #expect(file.bytes(in: 0..<count) == bytes)
    }

    @Test("a part that lies outside the file is left out")
    func parts() throws {
      let file = try file([1, 2, 3, 4])
      #expect(file.bytes(in: 1..<3) == [2, 3])
      #expect(file.bytes(in: 3..<9) == [4])
      #expect(file.bytes(in: 9..<12) == [])
      #expect(file.bytes(in: -2..<1) == [1])
    }

    @Test("nothing changes the bytes of a file: no write, no cut, and no further seal")
    func sealed() throws {
      let file = try file([1, 2, 3])
      #expect(unsafe pwrite(file.descriptor, [9], 1, 0) == -1 && errno == EPERM)
      #expect(ftruncate(file.descriptor, 0) == -1 && errno == EPERM)
      #expect(ftruncate(file.descriptor, 10) == -1 && errno == EPERM)
      #expect(file.bytes(in: 0..<3) == [1, 2, 3])
    }

    @Test("a released file gives its descriptor back")
    func released() throws {
      var limit = rlimit()
      #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      // More files, one after another, than a process may have open.
      for _ in 0..<min(limit.rlim_cur + 10, 200_000) { _ = try file([1]) }
    }

    @Test("no file is made when no descriptor is left, and the caller keeps its bytes")
    func noDescriptor() async throws {
      await #expect(processExitsWith: .success) {
        var limit = rlimit(rlim_cur: 16, rlim_max: 16)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(2) }
        var files: [MemoryFile] = []
        while let file = unsafe [UInt8]([1]).withUnsafeBytes({ unsafe MemoryFile($0) }), files.count < 16 {
          files.append(file)
        }
        exit(files.count < 16 ? 0 : 1)
      }
    }
  }
#endif
