// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file that a person named.
enum OutputFile {
  struct Failure: Error, CustomStringConvertible {
    /// As the person named it.
    var name: String
    var cause: String
    var description: String {
      "\(Terminal.printable(name)): cannot be written (\(cause)); name a file in a folder you may write to."
    }
  }

  /// Writes all of the bytes, or leaves the file as it was. A link is followed; a pipe or a device is written into.
  ///
  /// - Parameter option: what the path is the value of, for the error.
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
      throw Failure(name: "\(option) \(path)", cause: (error as NSError).localizedDescription)
    }
    return url.absoluteURL
  }
}
