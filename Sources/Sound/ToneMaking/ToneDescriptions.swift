// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A folder of descriptions of tones, `Tones/`, one file `<name>.json` for each tone.
public struct ToneDescriptions: Sendable {
  private static let longestName = 40
  /// The largest size of a description in bytes.
  private static let maximumBytes = 64 * 1024

  public let directory: URL

  public init(directory: URL) { self.directory = directory }

  /// Returns whether a tone can have this name: 1 to 40 of a-z, 0-9 and `-`, but not `default`, which is the name of
  /// the system's sound.
  static func isName(_ name: String) -> Bool {
    (1...longestName).contains(name.utf8.count) && name != "default"
      && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
  }

  /// Returns the names of the tones that can be made, sorted.
  ///
  /// - Throws: ``ToneError`` with the code `descriptionsMissing`.
  public func names() throws(ToneError) -> [String] {
    let path = directory.path(percentEncoded: false)
    guard let files = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      throw ToneError(
        .descriptionsMissing, path, "the descriptions of tones cannot be read",
        remedy: "install Crier completely, or give the folder that contains Tones/ with --data")
    }
    return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.filter(Self.isName).sorted()
  }

  /// Reads a description.
  ///
  /// - Throws: ``ToneError``.
  public func description(of name: String) throws(ToneError) -> ToneDescription {
    let names = try names()
    guard names.contains(name) else {
      throw ToneError(
        .toneUnknown, name, "there is no description of this tone",
        remedy: names.isEmpty
          ? "the folder \(directory.path(percentEncoded: false)) has none"
          : "choose one of \(names.joined(separator: ", "))")
    }
    let file = directory.appending(path: "\(name).json")
    let path = file.path(percentEncoded: false)
    func invalid(_ reason: String) -> ToneError {
      ToneError(.descriptionInvalid, path, reason, remedy: "correct the description of the tone")
    }
    guard let bytes = Self.contents(of: file), bytes.count <= Self.maximumBytes else {
      throw invalid("cannot be read, or is larger than \(Self.maximumBytes) bytes")
    }
    let description: ToneDescription
    do {
      description = try JSONDecoder().decode(ToneDescription.self, from: bytes)
    } catch DecodingError.keyNotFound(let key, let context) {
      throw invalid("\(Self.path(context.codingPath + [key])) is missing")
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      throw invalid("\(Self.path(context.codingPath)) has the wrong type")
    } catch {
      throw invalid("is not valid JSON, or has a number that its key does not allow")
    }
    if let fault = description.fault { throw invalid(fault) }
    return description
  }

  /// Returns the bytes of a regular file; nil if they cannot be read. It reads at most one byte more than the size
  /// limit, so that the caller notices a file that is too large.
  private static func contents(of file: URL) -> Data? {
    let target = file.resolvingSymlinksInPath()
    // Opening a pipe would block.
    guard (try? target.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true,
      let handle = try? FileHandle(forReadingFrom: target)
    else { return nil }
    defer { try? handle.close() }
    do { return try handle.read(upToCount: maximumBytes + 1) ?? Data() } catch { return nil }
  }

  /// Returns a path in the JSON, such as `notes[0].hertz`.
  private static func path(_ keys: [any CodingKey]) -> String {
    let path = keys.reduce("") { path, key in
      if let index = key.intValue { return "\(path)[\(index)]" }
      return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
    }
    return path.isEmpty ? "the description" : path
  }
}
