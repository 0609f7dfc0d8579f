// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An output file whose path the user gave.
enum OutputFile {
  /// Writes all of the bytes, or leaves the file unchanged. Follows symbolic links. Writes directly into a pipe or a
  /// device.
  ///
  /// - Parameter option: The option that the path was given with, which the error names.
  /// - Throws: ``CommandError``.
  static func write(_ bytes: [UInt8], to path: String, option: String = "--output") throws -> URL {
    let url = URL(filePath: path)
    do {
      let target = url.resolvingSymlinksInPath()
      let type = try? FileManager.default.attributesOfItem(atPath: target.path)[.type] as? FileAttributeType
      if let type, type != .typeRegular, type != .typeDirectory {
        try FileHandle(forWritingTo: target).write(contentsOf: bytes)
      } else {
        try Data(bytes).write(to: target, options: .atomic)
      }
    } catch {
      throw CommandError.unwritable("\(option) \(path)", (error as NSError).localizedDescription)
    }
    return url.absoluteURL
  }
}

extension CommandError {
  /// The error for an output file.
  ///
  /// - Parameter name: The option and path, as the user typed them.
  static func unwritable(_ name: String, _ cause: String) -> CommandError {
    CommandError(
      73, "\(Terminal.printable(name)): cannot be written (\(cause)); choose a file in a folder that you can write to.")
  }
}
