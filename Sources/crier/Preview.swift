// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser
import WaveformDrawing

struct Preview: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Draws the announcement's waveform with its words under it; writes no file.",
    discussion: """
      When standard output is no terminal, the words come as plain lines with their times.
      Nothing is played yet: the drawing is all there is, as with --no-sound.
      """)

  @OptionGroup(title: "What to announce") var input: AnnouncementInput
  @OptionGroup(title: "How to say it") var clip: ClipOptions

  @Flag(help: "Do not play the announcement.")
  var noSound = false

  @OptionGroup(title: "Files") var files: DataOptions

  func run() async throws {
    try await Failures.reported {
      let announcer = try files.announcer(speakers: 1)
      let rendered = try await announcer.render(
        try input.announcement(), options: clip.renderOptions(locale: input.locale), into: nil)
      let drawing = WaveformDrawing(
        columns: Terminal.isDrawable ? Terminal.columns : 400, style: Terminal.isDrawable ? .braille : .plain)
      for line in drawing.lines(rendered.waveform) { try StandardOutput.write(line) }
      Terminal.note(rendered.report.summary)
      if !noSound { Terminal.note("No sound: this version draws announcements and does not play them.") }
    }
  }
}
