// SPDX-License-Identifier: Apache-2.0

public import Foundation
import SoundFiles
public import SoundLibrary
import Waveforms

/// A file in the `Library/Sounds` folder of a sound library: a clip that Crier made, or another sound, such as a tone.
public struct ListedSound: Sendable, Hashable {
  public var name: String
  /// The words of the clip, as its record states them. It is `nil` for a file without a readable record.
  public var words: String?
  /// The length in milliseconds, rounded up. It is `nil` if the file is not a readable sound.
  public var milliseconds: Int?
  /// The size of the file in bytes.
  public var bytes: Int
  /// The time of the file's last modification.
  public var lastUsed: Date

  /// Returns the sounds of a library in the order of their names; an empty array when the folder does not exist.
  ///
  /// The call reads every file, so its duration grows with the size of the library. Names that are not clip names are
  /// left out, and so are folders, links and files that are removed in the meantime. A record is not compared with its
  /// sound.
  ///
  /// - Throws: `SoundLibraryError`.
  public static func all(in library: SoundLibrary) throws(SoundLibraryError) -> [ListedSound] {
    var sounds: [ListedSound] = []
    for name in try library.names() {
      let path = try library.url(for: name).path(percentEncoded: false)
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
        attributes[.type] as? FileAttributeType == .typeRegular,
        let bytes = attributes[.size] as? Int, let lastUsed = attributes[.modificationDate] as? Date
      else { continue }
      var sound = ListedSound(name: name, bytes: bytes, lastUsed: lastUsed)
      do throws(SoundLibraryError) {
        guard let contents = try library.contents(of: name) else { continue }
        sound.read(contents)
      } catch {
        switch error.code {
        // The other files can still be listed.
        case .tooLarge, .notPermitted: break
        default: throw error
        }
      }
      sounds.append(sound)
    }
    return sounds
  }

  private init(name: String, bytes: Int, lastUsed: Date) {
    (self.name, self.bytes, self.lastUsed) = (name, bytes, lastUsed)
  }

  private mutating func read(_ contents: [UInt8]) {
    if let sound = try? SoundFiles.decode(contents) {
      words = ClipRecord.unchecked(sound)?.text
      milliseconds = sound.waveform.durationMilliseconds
    } else {
      // A tone may have several channels, or an encoding that Crier does not write.
      milliseconds = (try? SoundFiles.mix(contents))?.durationMilliseconds
    }
  }
}
