// SPDX-License-Identifier: Apache-2.0

private import FileSystem
public import Foundation
public import VoicePacks

/// The clips of a pack that a listener marked as wrong.
///
/// The marks are stored beside the pack, in `<id>.marks.json` of the `Voices` folder. They are not part of the pack, so
/// marking a clip changes neither the pack's digest nor its sounds. A mark belongs to one recording: if the clip's
/// file is recorded again, its digest differs and the mark no longer applies.
public struct PackMarks: Sendable, Hashable {
  /// The digests of the marked clips. The keys are the names of their files.
  private var digests: [String: String]

  /// The names of the marked clips' files, in alphabetical order.
  public var files: [String] { digests.keys.sorted() }

  /// Returns whether a clip is marked as wrong.
  public func contains(_ file: String) -> Bool { digests[file] != nil }

  /// Reads the marks of a pack.
  ///
  /// - Parameters:
  ///   - manifest: the pack's manifest. Marks of clips that the manifest does not contain, or that were recorded again,
  ///     are left out.
  ///   - voices: the `Voices` folder that contains the pack.
  /// - Throws: `PackMakingError` with the code `marksUnreadable`.
  public init(of manifest: PackManifest, in voices: URL) throws(PackMakingError) {
    digests = try Self.stored(manifest.id, in: voices).filter { manifest.clips[$0.key]?.sha256 == $0.value }
  }

  /// Marks a clip as wrong or removes its mark, and stores the result. Other processes may change other marks of the
  /// pack at the same time.
  ///
  /// - Parameters:
  ///   - isMarked: whether the clip is to be marked.
  ///   - file: the name of the clip's file. The manifest must contain it.
  ///   - manifest: the pack's manifest.
  ///   - voices: the `Voices` folder that contains the pack.
  /// - Returns: all marks of the pack after the change.
  /// - Throws: `PackMakingError` with the code `marksUnreadable` or `writingFailed`.
  @discardableResult public static func set(
    _ isMarked: Bool, file: String, of manifest: PackManifest, in voices: URL
  ) throws(PackMakingError) -> PackMarks {
    guard let clip = manifest.clips[file] else {
      throw PackMakingError(
        .marksUnreadable, file, "is not a clip of the pack \(manifest.id)", remedy: "name a file of its manifest")
    }
    let unwritable = PackMakingError(
      .writingFailed, place(manifest.id, in: voices).lastPathComponent, "cannot be written",
      remedy: "check the space on the disk and the permissions of \(voices.path(percentEncoded: false))")
    do {
      guard let lock = try LockedFile(voices.appending(path: ".marks.lock"), patience: 5) else { throw unwritable }
      return try withExtendedLifetime(lock) {
        var marks = try PackMarks(of: manifest, in: voices)
        marks.digests[file] = isMarked ? clip.sha256 : nil
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try DurableFile.write(try encoder.encode(Stored(marked: marks.digests)), to: place(manifest.id, in: voices))
        return marks
      }
    } catch let error as PackMakingError {
      throw error
    } catch {
      throw unwritable
    }
  }

  /// Removes the marks of a pack that was removed. Nothing happens if there are none.
  public static func remove(_ id: String, in voices: URL) {
    try? FileManager.default.removeItem(at: place(id, in: voices))
  }

  /// The contents of the file.
  private struct Stored: Codable {
    var marked: [String: String]
  }

  private static func place(_ id: String, in voices: URL) -> URL { voices.appending(path: "\(id).marks.json") }

  private static func stored(_ id: String, in voices: URL) throws(PackMakingError) -> [String: String] {
    let file = place(id, in: voices)
    do {
      return try JSONDecoder().decode(Stored.self, from: Data(contentsOf: file)).marked
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return [:]
    } catch {
      throw PackMakingError(
        .marksUnreadable, file.lastPathComponent, "cannot be read", remedy: "remove the file to remove all marks")
    }
  }
}
