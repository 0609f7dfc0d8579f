// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PackManifest {
  /// Reads and checks the manifest of a pack. The clips are not read.
  ///
  /// - Throws: `VoicePackError`.
  init(readingFrom folder: borrowing PackFolder) throws(VoicePackError) {
    let data: Data
    do throws(PackFolder.Failure) {
      data = try folder.mapped(Self.fileName, maximumBytes: Self.maximumBytes)
    } catch {
      throw VoicePackError(
        error, .manifestUnreadable, "voice pack \(folder.id)", Self.fileName, maximumBytes: Self.maximumBytes)
    }
    try self.init(json: data, id: folder.id)
  }

  /// Parses and checks the bytes of a manifest. The bytes need not be valid.
  ///
  /// - Parameter id: the id that the manifest must contain.
  /// - Throws: `VoicePackError`.
  init(json data: Data, id: String) throws(VoicePackError) {
    let subject = "voice pack \(id)"
    // The version is read before the rest, because another version of the format may have a different structure.
    struct Version: Decodable { var format: Int }
    do {
      let format = try JSONDecoder().decode(Version.self, from: data).format
      guard format == Self.currentFormat else {
        throw VoicePackError(
          .formatUnsupported, subject, "has format \(format), but this program reads only format \(Self.currentFormat)",
          remedy: "make the pack again with this program, or use a newer program")
      }
      self = try JSONDecoder().decode(Self.self, from: data)
    } catch let error as VoicePackError {
      throw error
    } catch {
      throw VoicePackError(
        .manifestUnreadable, subject, "\(Self.fileName) is not a valid manifest (\(Self.place(of: error)))",
        remedy: "see docs/voice-packs.md for the fields")
    }
    let problem = fault ?? (self.id == id ? nil : "id is \(VoicePackError.shown(self.id)), but the folder is \(id)")
    if let problem {
      throw VoicePackError(
        .manifestInvalid, subject, "in \(Self.fileName), \(problem)", remedy: "correct it, or make the pack again")
    }
  }

  private static func place(of error: any Error) -> String {
    guard let error = error as? DecodingError else { return "not JSON" }
    switch error {
    case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "not JSON" : "at \(VoicePackError.shown(path))"
    @unknown default: return "not JSON"
    }
  }
}

extension VoicePackError {
  /// Creates the error for a file of a pack that cannot be mapped.
  ///
  /// - Parameter code: the code to use when the pack itself causes the error.
  init(_ failure: PackFolder.Failure, _ code: Code, _ subject: String, _ name: String, maximumBytes: Int) {
    switch failure {
    case .missing:
      self.init(code, subject, "\(name) does not exist", remedy: "make the pack again")
    case .notAFile:
      self.init(code, subject, "\(name) is not a regular file", remedy: "replace it with the file itself")
    case .tooLarge:
      self.init(code, subject, "\(name) has more than \(maximumBytes) bytes", remedy: "make the pack again")
    case .system(let number):
      self.init(
        .systemFailure, subject, "\(name) cannot be read (\(PackFolder.message(number)))",
        remedy: "check the file's permissions and the disk, and try again")
    }
  }
}
