// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FileSystem
import Foundation

/// Measures how many files of a clip's size the disk takes, on one thread, and prints files per second. The files get
/// their names as clips do: each is written under another name, synchronized and renamed. The folder is synchronized
/// after each file, or once after each group of files. The files are not removed. For some minutes after a removal,
/// ext4 searches for the freed inodes whenever it creates a file, which would slow the next measurement.
struct Disk: AsyncParsableCommand {
  @Option(help: "The number of files.") var count = 2_000
  @Option(help: "The size of each file in bytes.") var bytes = 92_000
  @Option(help: "The number of files in a group.") var group = 32
  @Argument var folder: String

  func run() async throws {
    let each = try filesPerSecond(inGroupsOf: 1)
    let grouped = try filesPerSecond(inGroupsOf: group)
    print("disk each \(Int(each)) grouped \(Int(grouped))")
  }

  private func filesPerSecond(inGroupsOf size: Int) throws -> Double {
    let calls = FileSystemCalls.system
    let place = URL(filePath: folder, directoryHint: .isDirectory).appending(path: "groups-of-\(size)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let open = try OpenDescriptor.folder(place, calls: calls)
    let contents = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let start = ContinuousClock.now
    for first in stride(from: 0, to: count, by: size) {
      let numbers = first..<min(first + size, count)
      var files: [Int32] = []
      for number in numbers {
        let file = try calls.createFile(open.number, ".\(number)", .readableByAll)
        files.append(file)
        try calls.writeAll(contents, to: file)
        try calls.startWriting(file)
      }
      for file in files { try calls.synchronize(file) }
      for number in numbers { try calls.rename(open.number, ".\(number)", "\(number).wav") }
      try open.synchronize()
      for file in files { calls.close(file) }
    }
    return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
  }
}
