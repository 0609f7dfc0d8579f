// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import Foundation
import Ledger
import Logging
import NIOCore
import SoundDoctor
import SoundLibrary
import TextFormats

extension Library {
  /// Finds the tones in the folders of the app groups, and records them in the ledger, from which phones learn about
  /// them.
  ///
  /// A tone is any sound file in `Library/Sounds` that is not the clip of an announcement. A file that iOS would not
  /// play is left out: the phone would be silent or play its own sound.
  func lookForTones() async {
    do {
      let libraries = try await clips.libraries()
      let (tones, unreadable) = await onWaitingThread { Self.tones(of: libraries) }
      if unreadable.isEmpty { foundTones.withLock { $0 = tones } }
      if try await ledger.setLibraryTones(tones, unreadable: unreadable) { tellChange() }
    } catch {
      logger.warning(
        "The list of tones for phones could not be stored. The service tries again in ten minutes.",
        metadata: ["error": "\(Problem.loggable(error))"])
    }
  }

  /// Bytes that are the same on two machines exactly if they have the same tones; nil before the first look.
  var tonesContent: Data? {
    foundTones.withLock { $0 }.map { tones in
      Data(tones.map { "\($0.group) \($0.name) \($0.sha256)\n" }.sorted().joined().utf8)
    }
  }

  private static func tones(of libraries: [SoundLibrary]) -> (tones: [LibrarySound], unreadable: Set<String>) {
    var tones: [LibrarySound] = []
    var unreadable: Set<String> = []
    for library in libraries {
      let group = library.container.directory.lastPathComponent
      guard let names = try? library.tones() else {
        unreadable.insert(group)
        continue
      }
      for name in names {
        guard let bytes = try? library.contents(of: name), isPlayable(bytes, name, library) else { continue }
        tones.append(
          LibrarySound(name: name, group: group, sha256: SHA256.hash(data: bytes).hexadecimal, bytes: bytes.count))
      }
    }
    return (tones, unreadable)
  }

  private static func isPlayable(_ bytes: [UInt8], _ name: String, _ library: SoundLibrary) -> Bool {
    let folder = library.soundsDirectory.path(percentEncoded: false)
    return SoundDiagnosis(of: SoundExamination(of: bytes, path: folder + name, folder: folder).facts).isPlayable
  }

  /// Returns a tone of an app group.
  ///
  /// - Parameter digest: The SHA-256 digest of the file.
  /// - Returns: nil if the group has no such tone.
  func tone(_ digest: String, group: String) async throws -> Clips.File? {
    guard let name = try await ledger.libraryTone(sha256: digest, group: group),
      let mediaType = Clips.mediaType(ofFileNamed: name)
    else { return nil }
    let library = try clips.library(group)
    return try await onWaitingThread {
      // The tone may have been replaced since it was recorded.
      guard let bytes = try library.contents(of: name), SHA256.hash(data: bytes).hexadecimal == digest else {
        return nil
      }
      return Clips.File(bytes: ByteBuffer(bytes: bytes), digest: digest, mediaType: mediaType)
    }
  }
}
