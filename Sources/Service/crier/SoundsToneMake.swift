// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import Foundation
import SoundLibrary
import ToneMaking

extension Sounds.Tone {
  struct Make: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes Crier's own tones in the group's Library/Sounds and prints their paths.",
      discussion: """
        Each tone is made from its description in Tones/ beside Templates/. The same description always makes the same \
        bytes. The tones have -12 LUFS, 4 LU more than announcements, and a true peak of at most -1 dBTP. A file that \
        is already there and has the same bytes is left as it is.

        EXAMPLES
          crier sounds tone make chime bell
          crier sounds tone make coins --group group.com.example.shop
        """)

    @Argument(help: "The names of the tones, as crier sounds tone list shows them.")
    var names: [String]

    @Flag(help: "Replace a different file that has the name of the tone.")
    var replace = false

    @Flag(
      help: "Print one line of JSON for each tone: name, path, bytes, duration_ms, loudness_lufs, true_peak_dbtp.")
    var json = false

    @OptionGroup(title: "Group") var publishing: PublishingOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      let library = try publishing.library(home: home.folder)
      let tones = GroupTones(library: library, own: ToneDescriptions(directory: files.installation.tones))
      // All names are checked before anything is made. The error for an unknown name comes from the descriptions.
      let own = try names.map { try tones.ownName($0) ?? $0 }
      for name in own { _ = try tones.own.description(of: name) }
      for name in own {
        let (tone, file) = try tones.make(name, replaces: replace)
        let path = file.path(percentEncoded: false)
        try StandardOutput.write(json ? try MadeLine(tone, path: path).jsonLine : Terminal.printable(path))
      }
    }
  }
}

/// A made tone as JSON.
private struct MadeLine: Encodable {
  var name: String
  var path: String
  var bytes: Int
  var durationMs: Int
  var loudnessLUFS: Double
  var truePeakDBTP: Double

  init(_ tone: MadeTone, path: String) {
    (name, self.path, bytes) = (tone.fileName, path, tone.bytes.count)
    (durationMs, loudnessLUFS) = (tone.durationMilliseconds, tone.loudnessLUFS)
    truePeakDBTP = tone.truePeakDBTP
  }
}
