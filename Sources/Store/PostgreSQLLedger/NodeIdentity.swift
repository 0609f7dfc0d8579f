// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import TextFormats

/// The values that distinguish this process from all others that use the same database.
struct NodeIdentity: Sendable, Hashable {
  /// The id of the home folder, 32 hexadecimal digits, which stays the same when the process starts again.
  let home: String
  /// The id of the process. Each opened ledger has its own id, even if two home folders are copies of each other.
  let id: String
  /// A text that stands for the folder of the locked files. It has the number of the machine's start, and the folder's
  /// numbers in its file system. Two processes with the same place use the same locked files, and two copies of a
  /// folder have different places.
  let place: String

  /// Reads the id of the home folder, or makes it.
  ///
  /// - Throws: `SystemError`.
  init(folder: URL) throws {
    let file = folder.appending(path: "node")
    func stored() throws -> String? {
      let text = try DurableFile.contents(of: file).map { String(decoding: $0, as: UTF8.self) }
      let digits = text?.trimmingCharacters(in: .whitespacesAndNewlines)
      return digits.flatMap { [UInt8](hexadecimal: $0)?.count == 16 ? $0.lowercased() : nil }
    }
    home =
      try stored()
      ?? {
        // Of two processes that start at once, the second one waits here, and then finds the file.
        let lock = try LockedFile(folder.appending(path: "node.lock"), patience: 10)
        defer { withExtendedLifetime(lock) {} }
        if let other = try stored() { return other }
        let new = Self.random(bytes: 16)
        try DurableFile.write(Array("\(new)\n".utf8), to: file)
        return new
      }()
    id = "\(home).\(Self.random(bytes: 8))"
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(percentEncoded: false))
    let numbers = [FileAttributeKey.systemNumber, .systemFileNumber].map { key in
      (attributes[key] as? NSNumber)?.stringValue ?? Self.random(bytes: 8)
    }
    // Without the number of the start, which each Linux has, no two processes have the same place.
    let start = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    place = ([start?.trimmingCharacters(in: .whitespacesAndNewlines) ?? Self.random(bytes: 8)] + numbers)
      .joined(separator: ":")
  }

  private static func random(bytes count: Int) -> String {
    (0..<count).map { _ in UInt8.random(in: 0 ... .max) }.hexadecimal
  }
}
