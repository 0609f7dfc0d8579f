// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import Playback
import Waveforms

struct Play: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays sound files in order.",
    discussion: """
      Programs that share a CRIER_HOME never play at the same time on one output. If another program is playing, the \
      files wait, and payments go first. All files that libsndfile reads are accepted (WAV, AIFF, CAF, FLAC, Ogg, \
      MP3), up to 10 minutes each.

      EXAMPLES
        crier play closing.wav
        crier play *.wav --output alsa:plughw:1,0 --gap 500
        crier play a.wav b.wav --output file:played.log
      """)

  @Argument(help: "The sound files to play.", completion: .file())
  var files: [String]

  @OptionGroup(title: "Playback") var player: PlayerOptions
  @OptionGroup(title: "Files") var data: DataOptions

  func validate() throws {
    if files.contains("") { throw ValidationError("FILE is empty: give a sound file.") }
  }

  /// Returns the absolute path of a file as the system resolves it. The lane's player may run in another folder, and a
  /// URL would change names such as `~` or a `..` behind a link.
  private static func located(_ path: String) throws -> URL {
    guard let real = realpath(path, nil) else {
      throw PlayableFileError.missing(path)
    }
    defer { free(real) }
    return URL(filePath: String(cString: real))
  }

  func perform() async throws {
    // All files are checked before the first one plays.
    var milliseconds = 0
    let found = try files.map(Self.located)
    for file in found { milliseconds += try PlayableFile.waveform(of: file).durationMilliseconds }
    // If this program is killed, the files must not play much later.
    let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1000 + 600)
    let run = UUID().uuidString
    let announcements = found.enumerated().map { index, file in
      StoredAnnouncement(file: file, id: "\(run)-\(index)", expiresAt: end)
    }
    try await player.play(announcements, titles: files, files: data)
  }
}
