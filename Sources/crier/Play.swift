// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Playback
import Waveforms

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

struct Play: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays sound files in order through the player.",
    discussion: """
      Programs with one CRIER_HOME never sound at once on an output: where one plays already, the files wait their turn, and payments \
      go before them. Any file that libsndfile reads is played (WAV, AIFF, CAF, FLAC, Ogg, MP3), up to 10 minutes.

      EXAMPLES
        crier play closing.wav
        crier play *.wav --output alsa:plughw:1,0 --gap 500
        crier play a.wav b.wav --output file:played.log
      """)

  @Argument(help: "The sound files.", completion: .file())
  var files: [String]

  @OptionGroup(title: "Where and how") var player: PlayerOptions
  @OptionGroup(title: "Files") var data: DataOptions

  func validate() throws {
    if files.contains("") { throw ValidationError("A FILE is empty: name a sound file.") }
  }

  /// Where the system finds it: another program that plays it is in another folder, and a name with `..` behind a link, or
  /// one that is `~`, is not what a URL makes of it.
  private static func located(_ path: String) throws -> URL {
    guard let real = realpath(path, nil) else {
      throw PlayableFileError.missing(path)
    }
    defer { free(real) }
    return URL(filePath: String(cString: real))
  }

  func run() async throws {
    try await Failures.reported {
      // All are looked at before the first is heard.
      var milliseconds = 0
      let found = try files.map(Self.located)
      for file in found { milliseconds += try PlayableFile.waveform(of: file).durationMilliseconds }
      // Should this program be killed, nobody wants to hear them tomorrow.
      let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1000 + 600)
      let run = UUID().uuidString
      let announcements = found.enumerated().map { index, file in
        StoredAnnouncement(file: file, id: "\(run)-\(index)", expiresAt: end)
      }
      try await player.play(announcements, titles: files, files: data)
    }
  }
}
