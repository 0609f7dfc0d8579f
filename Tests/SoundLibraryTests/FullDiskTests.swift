// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import Testing

/// A file system of 2 MiB in memory, unmounted when the test is over.
private final class SmallDisk {
  let directory: URL

  /// Nil where no file system can be mounted.
  init?() {
    directory = FileManager.default.temporaryDirectory.appending(path: "small-disk-\(UUID().uuidString)")
    try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    guard Self.run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory.path) else {
      try? FileManager.default.removeItem(at: directory)
      return nil
    }
  }

  deinit {
    _ = Self.run("umount", "-l", directory.path)
    // This removes only an empty folder, so the files stay if the disk is still mounted.
    _ = rmdir(directory.path)
  }

  func makeReadOnly() -> Bool { Self.run("mount", "-o", "remount,ro", directory.path) }

  static let canBeMounted = geteuid() == 0 && SmallDisk() != nil

  private static func run(_ command: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}

@Suite(
  "A full or read-only disk",
  .enabled(if: SmallDisk.canBeMounted, "mounting a file system in memory takes root on Linux"))
struct FullDiskTests {
  @Test(
    "publishing on a full disk fails, keeps the clips, leaves no temporary file, and works again with free space"
  )
  func full() throws {
    let disk = try #require(SmallDisk())
    let container = GroupContainer(directory: disk.directory)
    let library = SoundLibrary(container: container)
    let small = [UInt8](repeating: 1, count: 700_000)
    let large = [UInt8](repeating: 2, count: 1_600_000)
    _ = try library.publish(small, as: "a.wav")

    for name in ["a.wav", "b.wav"] {
      let error = #expect(throws: SoundLibraryError.self) { try library.publish(large, as: name) }
      #expect(error?.code == .noSpace)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: container.soundsDirectory.path) == ["a.wav"])
    #expect(try library.contents(of: "a.wav") == small)

    try FileManager.default.removeItem(at: try library.url(for: "a.wav"))
    _ = try library.publish(large, as: "b.wav")
    #expect(try library.contents(of: "b.wav") == large)
  }

  @Test("on a read-only disk, publishing is an error, and clips can still be read")
  func readOnly() throws {
    let disk = try #require(SmallDisk())
    let library = SoundLibrary(container: GroupContainer(directory: disk.directory))
    _ = try library.publish([1], as: "a.wav")
    try #require(disk.makeReadOnly())
    let error = #expect(throws: SoundLibraryError.self) { try library.publish([2], as: "a.wav") }
    #expect(error?.code == .readOnly)
    #expect(try library.contents(of: "a.wav") == [1])
  }
}
