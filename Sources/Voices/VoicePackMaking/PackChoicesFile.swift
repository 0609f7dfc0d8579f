// SPDX-License-Identifier: Apache-2.0

private import FileSystem
public import Foundation
public import VoicePacks

/// The file that stores the packs that the user chose; see `ChosenPacks`.
public struct PackChoicesFile: Sendable {
  /// The file, such as `$CRIER_HOME/packs.json`.
  public var file: URL

  public init(_ file: URL) { self.file = file }

  /// Changes the choices. Two processes that change them take turns.
  ///
  /// - Throws: `PackMakingError` with the code `writingFailed`; `VoicePackError` with the code `choicesUnreadable`.
  public func change(_ change: (inout ChosenPacks) -> Void) throws {
    let folder = file.deletingLastPathComponent()
    do {
      try DurableFolder.make(folder, .ownerOnly)
      guard let lock = try LockedFile(folder.appending(path: ".packs.lock"), patience: 5) else { throw failure }
      try withExtendedLifetime(lock) {
        var choices = try ChosenPacks(file: file)
        change(&choices)
        try DurableFile.write(try choices.json, to: file)
      }
    } catch is SystemError {
      throw failure
    }
  }

  private var failure: PackMakingError {
    PackMakingError(
      .writingFailed, file.path(percentEncoded: false), "cannot be written",
      remedy: "check the space on the disk and the permissions of the folder")
  }
}
