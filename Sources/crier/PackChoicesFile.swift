// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import VoicePacks

/// The file in the home folder with the packs that `crier voices use` chose.
struct PackChoicesFile {
  let home: CrierHome

  /// Reads the choices; none if the file does not exist.
  ///
  /// - Throws: `VoicePackError` with the code `choicesUnreadable`.
  func read() throws -> ChosenPacks { try ChosenPacks(file: home.chosenPacks) }

  /// Changes the choices. Two processes that change them take turns.
  ///
  /// - Throws: ``Failure``; `VoicePackError` with the code `choicesUnreadable`; ``UnsafeHome``.
  func change(_ change: (inout ChosenPacks) -> Void) throws {
    try home.requirePrivate()
    let folder = home.directory
    do {
      try DurableFolder.make(folder, .ownerOnly)
      guard let lock = try LockedFile(folder.appending(path: ".packs.lock"), patience: 5) else {
        throw Failure(home: home)
      }
      try withExtendedLifetime(lock) {
        var choices = try read()
        change(&choices)
        try DurableFile.write(try choices.json, to: home.chosenPacks)
      }
    } catch is SystemError {
      throw Failure(home: home)
    }
  }

  /// The error for a file that cannot be written.
  struct Failure: Error, CustomStringConvertible {
    var home: CrierHome
    var description: String {
      "\(home.chosenPacks.path(percentEncoded: false)): cannot be written; check the space on the disk and the "
        + "permissions of the folder."
    }
  }
}
