// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import SoundFiles
import SoundLibrary

struct Render: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Renders an announcement, publishes the clip in the group's Library/Sounds, and prints its path.",
    discussion: """
      The clip's name is the digest of its recipe, so rendering the same announcement again gives the same file.

      EXAMPLES
        crier render payload.json
        crier render --amount 12.50 --currency CNY --channel alipay --locale zh-CN
        crier render --text "The shop closes at nine" --locale en-US --output closing.wav
      """)

  @OptionGroup(title: "Announcement") var input: AnnouncementInput
  @OptionGroup(title: "Voice") var clip: ClipOptions

  @Option(
    help: """
      The file format: \(SoundFormat.Container.allCases.map(\.rawValue).joined(separator: ", ")). (default: the \
      extension of --output, else wav)
      """)
  var format: SoundFormat.Container?

  @OptionGroup var sound: SoundOptions

  @Option(help: "Write the clip to this file instead of publishing it.", completion: .file())
  var output: String?

  @Flag(help: "Print the report as one line of JSON instead of the path.")
  var json = false

  @OptionGroup(title: "Publishing") var publishing: PublishingOptions
  @OptionGroup(title: "Limits") var limits: KeepingOptions
  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    if output == "" { throw ValidationError("--output is empty: name a file.") }
    if output == "-" {
      throw ValidationError("--output -: a clip is not written to standard output: name a file, or ./- for this name.")
    }
    if output != nil, limits.isGiven {
      throw ValidationError(
        "--output publishes nothing, so --max-mb, --max-files and --unused-days have no effect: drop them.")
    }
    if format == nil, let output, !Self.ending(ofFileNamed: output).isEmpty, Self.container(ofFileNamed: output) == nil
    {
      let formats = SoundFormat.Container.allCases.map(\.rawValue)
      throw ValidationError(
        "--output \(Terminal.printable(output)): \(Terminal.printable(Self.ending(ofFileNamed: output))) is not an "
          + "available format; use \(formats.dropLast().joined(separator: ", ")) or \(formats.last ?? ""), or choose the "
          + "format with --format.")
    }
    if let format, let output, let ending = Self.container(ofFileNamed: output), ending != format {
      throw ValidationError(
        "--format \(format.rawValue) and --output \(Terminal.printable(output)) contradict each other: drop one.")
    }
  }

  func perform() async throws {
    let container = format ?? output.flatMap(Self.container(ofFileNamed:)) ?? .wav
    let library = output == nil ? try publishing.library() : nil
    let announcer = try files.announcer(speakers: 1)
    let payload = try input.announcement()
    let rendered = try await announcer.render(
      payload.announcement,
      options: clip.renderOptions(
        locale: input.locale, format: SoundFormat(container: container, encoding: sound.encoding),
        sampleRate: sound.sampleRate),
      into: library)
    var report = rendered.report
    report.warnings = payload.warnings + report.warnings
    if let output { report.locate(at: try OutputFile.write(rendered.bytes, to: output)) }
    try StandardOutput.write(json ? try report.json : report.clip.path)
    if !json {
      Terminal.note(report.summary)
      for remark in report.remarks { Terminal.note(remark) }
    }
    if let library { await limits.pruneIfAsked(library, to: publishing, own: [report.clip.name]) }
  }

  private static func container(ofFileNamed name: String) -> SoundFormat.Container? {
    SoundFormat.Container(rawValue: ending(ofFileNamed: name).lowercased())
  }

  /// Returns the file name's extension, without its dot; empty if there is none.
  private static func ending(ofFileNamed name: String) -> String { URL(filePath: name).pathExtension }
}

extension Remarks.Unspoken {
  /// The part in a line for people.
  var line: String { "\(field): not spoken: \(Terminal.printable(text))" }
}

extension ClipReport {
  /// A one-line summary for people.
  var summary: String {
    let seconds = "\(clip.durationMilliseconds / 1000).\((clip.durationMilliseconds % 1000) / 100)"
    let steps = shortened.isEmpty ? "" : ", shortened: \(shortened.joined(separator: ", "))"
    return
      "\(Terminal.printable(text)) (\(seconds) s, \(loudnessLUFS) LUFS, \(voice)\(steps)\(cached ? ", from cache" : ""))"
  }

  /// One line for each unspoken text and each warning, and one line if another voice than the wanted one spoke.
  var remarks: [String] {
    unspoken.map(\.line) + warnings
      + [
        fallback.map {
          "Another voice than the speech server's spoke all or a part of this: \($0) (docs/speech-servers.md)."
        }
      ].compactMap(\.self)
  }

  fileprivate mutating func locate(at url: URL) {
    clip.name = url.lastPathComponent
    clip.path = url.path(percentEncoded: false)
    clip.url = url.absoluteString
  }
}
