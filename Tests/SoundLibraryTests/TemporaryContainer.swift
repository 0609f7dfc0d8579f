// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation

@testable import SoundLibrary

/// A group container in a fresh folder, which is removed when the test is over.
final class TemporaryContainer: Sendable {
  let root: URL
  let container: GroupContainer

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "sound-library-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    container = try GroupContainer(containers: root.appending(path: "containers"), group: "group.crier")
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  var library: SoundLibrary { SoundLibrary(container: container) }

  /// The names in `Library/Sounds`, including those of hidden files; empty when the folder does not exist.
  var names: [String] { Self.names(in: container.soundsDirectory) }

  static func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  func makeSoundsDirectory() throws {
    try FileManager.default.createDirectory(at: container.soundsDirectory, withIntermediateDirectories: true)
  }

  /// Puts a file into `Library/Sounds` as a killed process would leave it: nobody has its lock.
  func leaveBehind(_ name: String, _ bytes: [UInt8] = [1, 2, 3]) throws {
    try makeSoundsDirectory()
    try Data(bytes).write(to: container.soundsDirectory.appending(path: name))
  }
}

/// A number that closures of several threads add to.
final class Counter: Sendable {
  private let number = Locked(0)

  var value: Int { number.withLock { $0 } }

  @discardableResult
  func add(_ amount: Int = 1) -> Int {
    number.withLock { number in
      number += amount
      return number
    }
  }
}

extension FileSystemCalls {
  /// Returns calls that count the open file descriptors.
  func counting(_ open: Counter) -> FileSystemCalls {
    let calls = self
    var counted = self
    counted.openFolder = { (parent, name) throws(SystemError) in
      let descriptor = try calls.openFolder(parent, name)
      open.add()
      return descriptor
    }
    counted.createFile = { (folder, name, permissions) throws(SystemError) in
      let descriptor = try calls.createFile(folder, name, permissions)
      open.add()
      return descriptor
    }
    counted.openFile = { (folder, name) throws(SystemError) in
      let descriptor = try calls.openFile(folder, name)
      open.add()
      return descriptor
    }
    counted.close = { descriptor in
      open.add(-1)
      calls.close(descriptor)
    }
    return counted
  }
}

/// The name of a rendered clip.
func clipName(_ number: Int) -> String {
  String(repeating: "a", count: 64 - "\(number)".count) + "\(number).wav"
}

/// The time of the tests of keeping clips.
let testTime = Date(timeIntervalSince1970: 1_800_000_000)

/// A clip that was last used this many hours ago.
func storedSound(_ number: Int, hours: Double, bytes: Int = 100) -> StoredSound {
  StoredSound(name: clipName(number), byteCount: bytes, lastUsed: testTime.addingTimeInterval(-hours * 3600))
}
