// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import FileSystem

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Locked files")
struct LockedFileTests {
  private let file = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID().uuidString)")

  @Test("a locked file cannot be locked again until the first lock is released")
  func exclusive() throws {
    defer { try? FileManager.default.removeItem(at: file) }
    var first = try LockedFile(file, patience: 0)
    #expect(first != nil)
    #expect(try LockedFile(file, patience: 0) == nil)
    first = nil
    #expect(try LockedFile(file, patience: 0) != nil)
  }

  @Test("a released lock is free, even while a child process that has just forked has a copy of the file descriptor")
  func copiedDescriptor() throws {
    defer { try? FileManager.default.removeItem(at: file) }
    var first = try LockedFile(file, patience: 0)
    // Between fork and exec, a child has such a copy.
    let copy = dup(try #require(first).descriptor)
    defer { close(copy) }
    first = nil
    #expect(try LockedFile(file, patience: 0) != nil)
  }

  @Test("a look at a locked file finds whether another process holds the lock, and does not change the lock")
  func look() throws {
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(try LockedFile.look(at: file, count: 4) == nil)
    let lock = try #require(try LockedFile(file, patience: 0))
    try lock.write([1, 2, 3, 4, 5])
    let look = try #require(try LockedFile.look(at: file, count: 4))
    #expect(look.isLocked)
    #expect(look.bytes == [1, 2, 3, 4])
    withExtendedLifetime(lock) {}
    #expect(throws: SystemError.self) {
      _ = try LockedFile(file.appending(path: "lock"), patience: 0)
    }
  }
}
