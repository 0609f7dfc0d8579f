// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import Playback
import SoundOutputs
import WaveformDrawing

struct Preview: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays the announcement aloud, and draws its waveform with its words under it; publishes nothing.",
    discussion: """
      When standard output is no terminal, the words come as plain lines with their times.
      """)

  @OptionGroup(title: "What to announce") var input: AnnouncementInput
  @OptionGroup(title: "How to say it") var clip: ClipOptions

  @Flag(help: "Do not play the announcement.")
  var noSound = false

  @OptionGroup(title: "Where and how it is played") var player: PlayerOptions
  @OptionGroup(title: "Files") var files: DataOptions

  func run() async throws {
    try await Failures.reported {
      let announcer = try files.announcer(speakers: 1)
      let payload = try input.announcement()
      let rendered = try await announcer.render(
        payload.announcement, options: clip.renderOptions(locale: input.locale), into: nil)
      let drawing = WaveformDrawing(
        columns: Terminal.isDrawable ? Terminal.columns : 400, style: Terminal.isDrawable ? .braille : .plain)
      for line in drawing.lines(rendered.waveform) { try StandardOutput.write(line) }
      Terminal.note(rendered.report.summary)
      for warning in payload.warnings { Terminal.note(warning) }
      guard !noSound else { return }
      do {
        try await play(rendered)
      } catch let error as OutputError {
        Terminal.note("It is drawn and not heard; with --no-sound nothing is played.")
        throw error
      }
    }
  }

  /// Whoever plays the lane may be another process, so it gets a file.
  private func play(_ rendered: RenderedClip) async throws {
    let folder = CrierHome().previews
    try? Self.removeLeft(in: folder)
    let id = UUID().uuidString
    let file = try OutputFile.write(
      rendered.bytes, to: folder.appending(path: "\(id).wav").path(percentEncoded: false), option: "CRIER_HOME")
    defer { try? FileManager.default.removeItem(at: file) }
    // What others have before it may take a while; what is left of a preview that was killed is not heard tomorrow.
    let announcement = StoredAnnouncement(
      file: file, title: rendered.report.text, id: id, expiresAt: Date(timeIntervalSinceNow: 600))
    try await player.play([announcement], titles: [rendered.report.text], files: files)
  }

  /// Files of previews that were killed.
  private static func removeLeft(in folder: URL) throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let old = Date(timeIntervalSinceNow: -3600)
    for file in try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: [.contentModificationDateKey])
    where try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate ?? .now < old {
      try FileManager.default.removeItem(at: file)
    }
  }
}
