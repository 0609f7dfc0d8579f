// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import Ledger
import Playback
import SoundOutputs
import WaveformDrawing

struct Preview: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays an announcement and draws its waveform with the words below it. Nothing is published.",
    discussion: """
      If standard output is not a terminal, the words are printed as plain lines with their times.
      """)

  @OptionGroup(title: "Announcement") var input: AnnouncementInput
  @OptionGroup(title: "Voice") var clip: ClipOptions

  @Flag(help: "Do not play the announcement.")
  var noSound = false

  @OptionGroup(title: "Playback") var player: PlayerOptions
  @OptionGroup(title: "Files") var files: DataOptions

  func perform() async throws {
    let announcer = try files.announcer(speakers: 1, home: player.home.folder)
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
      try await Self.play(rendered, of: payload.announcement, player, files)
    } catch let error as OutputError {
      Terminal.note("The waveform was drawn, but playback failed. To only draw it, use --no-sound.")
      throw error
    }
  }

  /// The time in which the preview must begin, in seconds.
  private static let patience: TimeInterval = 60

  /// Plays the clip from a file, because the lane's player may be another process.
  ///
  /// - Parameter progress: The progress of a command that plays several clips.
  static func play(
    _ rendered: RenderedClip, of content: Announcement, _ player: PlayerOptions, _ files: DataOptions,
    progress: PlayProgress? = nil
  ) async throws {
    var kind: Payment.Kind?
    if case .payment(let payment) = content { kind = payment.kind }
    let folder = player.home.folder.previews
    try? removeLeft(in: folder)
    let id = UUID().uuidString
    let file = try OutputFile.write(
      rendered.bytes, to: folder.appending(path: "\(id).wav").path(percentEncoded: false),
      option: player.home.home == nil ? "CRIER_HOME" : "home")
    defer { try? FileManager.default.removeItem(at: file) }
    // Earlier announcements may delay the preview. If this command is killed, the entry expires instead of playing
    // later.
    let announcement = StoredAnnouncement(
      file: file, title: rendered.report.text, paymentKind: kind, id: id,
      expiresAt: Date(timeIntervalSinceNow: patience))
    try await player.play(
      [announcement], titles: [rendered.report.text], files: files, mustBeHeard: true, progress: progress)
  }

  /// Removes the files left by previews that were killed.
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
