// SPDX-License-Identifier: Apache-2.0

import Foundation

extension PackManifest {
  /// Reads and checks a pack's manifest; no clip is looked at.
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

  /// Reads and checks the bytes of a manifest, whatever they are.
  ///
  /// - Parameter id: of the pack that it must describe.
  /// - Throws: `VoicePackError`.
  init(json data: Data, id: String) throws(VoicePackError) {
    let subject = "voice pack \(id)"
    // First, because another format may have another shape.
    struct Version: Decodable { var format: Int }
    do {
      let format = try JSONDecoder().decode(Version.self, from: data).format
      guard format == Self.currentFormat else {
        throw VoicePackError(
          .formatUnsupported, subject, "has the format \(format), and this program reads \(Self.currentFormat)",
          remedy: "make it again with this program, or use a newer one")
      }
      self = try JSONDecoder().decode(Self.self, from: data)
    } catch let error as VoicePackError {
      throw error
    } catch {
      throw VoicePackError(
        .manifestUnreadable, subject, "\(Self.fileName) is no manifest (\(Self.place(of: error)))",
        remedy: "see docs/voice-packs.md for the fields")
    }
    let problem = fault ?? (self.id == id ? nil : "id is \(VoicePackError.shown(self.id)) and the folder \(id)")
    if let problem {
      throw VoicePackError(
        .manifestInvalid, subject, "in \(Self.fileName), \(problem)", remedy: "correct it, or make the pack again")
    }
  }

  private static func place(of error: any Error) -> String {
    guard let error = error as? DecodingError else { return "not JSON" }
    switch error {
    case .keyNotFound(let key, _): return "there is no \(key.stringValue)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "not JSON" : "at \(VoicePackError.shown(path))"
    @unknown default: return "not JSON"
    }
  }
}

extension VoicePackError {
  /// A file of a pack that cannot be mapped; `code` when the fault is the pack's.
  init(_ failure: PackFolder.Failure, _ code: Code, _ subject: String, _ name: String, maximumBytes: Int) {
    switch failure {
    case .missing:
      self.init(code, subject, "\(name) is not there", remedy: "make the pack again")
    case .notAFile:
      self.init(code, subject, "\(name) is a link or no file", remedy: "put the file itself in its place")
    case .tooLarge:
      self.init(code, subject, "\(name) has more than \(maximumBytes) bytes", remedy: "make the pack again")
    case .system(let number):
      self.init(
        .systemFailure, subject, "\(name) cannot be read (\(PackFolder.message(number)))",
        remedy: "see to the rights and the disk and try again")
    }
  }
}
