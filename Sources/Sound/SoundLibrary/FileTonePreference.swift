// SPDX-License-Identifier: Apache-2.0

package import FileSystem
public import Foundation

/// The preference for a tone in a file of the group container, for systems without shared `UserDefaults`.
///
/// The file is `Library/Preferences/<group>.json`, in the folder in which iOS keeps the group's preferences. Its
/// content has the form `{"sound": "chime.wav"}`. Any number of processes can use it at the same time: the file is
/// replaced as a whole, and the last choice wins. A missing or damaged file counts as no choice.
public struct FileTonePreference: TonePreference {
  /// The largest size in bytes of a file that is read. A larger file counts as damaged.
  static let maximumBytes = 4096

  private static let folderName = "Preferences"

  private let container: GroupContainer
  private let calls: FileSystemCalls

  /// - Parameter container: The group container. The name of its folder is the name of the group.
  public init(container: GroupContainer) { self.init(container: container, calls: .system) }

  package init(container: GroupContainer, calls: FileSystemCalls) {
    self.container = container
    self.calls = calls
  }

  /// The file, whether or not it exists.
  public var file: URL { folder.appending(path: fileName, directoryHint: .notDirectory) }

  private var fileName: String { "\(container.directory.lastPathComponent).json" }

  private var folder: URL {
    container.directory.appending(path: "Library", directoryHint: .isDirectory)
      .appending(path: Self.folderName, directoryHint: .isDirectory)
  }

  private struct Stored: Codable {
    var sound: String?
  }

  public func tone() throws(SoundLibraryError) -> String? {
    do throws(SystemError) {
      let folder = try SoundsFolder(of: container, name: Self.folderName, calls: calls)
      let bytes = try folder.contents(of: fileName, atMost: Self.maximumBytes)
      return Self.tone(stored: (try? JSONDecoder().decode(Stored.self, from: Data(bytes)))?.sound)
    } catch {
      switch error.kind {
      case .missing, .notAFile, .tooLarge: return nil
      default: throw SoundLibraryError(error, while: .readingPreference, in: folder)
      }
    }
  }

  public func setTone(_ name: String) throws(SoundLibraryError) {
    try SoundLibrary.check(name)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let bytes = try? encoder.encode(Stored(sound: name)) else {
      throw SoundLibraryError(code: .systemFailure, action: .storingPreference, folder: folder)
    }
    do throws(SystemError) {
      let folder = try SoundsFolder(of: container, name: Self.folderName, making: .readableByAll, calls: calls)
      _ = try folder.publish(
        Array(bytes) + Array("\n".utf8), as: fileName, use: SoundUse(at: Date()), setsFolderAside: false)
    } catch {
      throw SoundLibraryError(error, while: .storingPreference, in: folder)
    }
  }

  public func removeTone() throws(SoundLibraryError) {
    do throws(SystemError) {
      try SoundsFolder(of: container, name: Self.folderName, calls: calls).remove(fileName)
    } catch {
      guard error.kind != .missing else { return }
      throw SoundLibraryError(error, while: .storingPreference, in: folder)
    }
  }
}
