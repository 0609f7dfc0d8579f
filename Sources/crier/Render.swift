// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import SoundFiles
import SoundLibrary

struct Render: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes the clip, publishes it in Library/Sounds of the group, and prints its path.",
    discussion: """
      The clip's name is the digest of its recipe: rendering the same announcement again gives the same file.

      EXAMPLES
        crier render payload.json
        crier render --amount 12.50 --currency CNY --channel alipay --locale zh-CN
        crier render --text "The shop closes at nine" --locale en-US --output closing.wav
      """)

  @OptionGroup(title: "What to announce") var input: AnnouncementInput
  @OptionGroup(title: "How to say it") var clip: ClipOptions

  @Option(
    help: """
      The file: \(SoundFormat.Container.allCases.map(\.rawValue).joined(separator: ", ")). (default: as --output ends, \
      else wav)
      """)
  var format: SoundFormat.Container?

  @Option(help: "The samples: \(SoundFormat.Encoding.allCases.map(\.rawValue).joined(separator: ", ")).")
  var encoding: SoundFormat.Encoding = .pcm16

  @Option(help: "Write the clip to this file instead of publishing it.", completion: .file())
  var output: String?

  @Flag(help: "Print the report as one line of JSON instead of the path.")
  var json = false

  @OptionGroup(title: "Where clips go") var publishing: PublishingOptions
  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    if output == "" { throw ValidationError("--output is empty: name a file.") }
    if let format, let output, let ending = Self.container(ofFileNamed: output), ending != format {
      throw ValidationError(
        "--format \(format.rawValue) and --output \(Terminal.printable(output)) disagree: drop one.")
    }
  }

  func run() async throws {
    try await Failures.reported {
      let container = format ?? output.flatMap(Self.container(ofFileNamed:)) ?? .wav
      let library = output == nil ? try publishing.library() : nil
      let announcer = try files.announcer(speakers: 1)
      let payload = try input.announcement()
      let rendered = try await announcer.render(
        payload.announcement,
        options: clip.renderOptions(
          locale: input.locale, format: SoundFormat(container: container, encoding: encoding)), into: library)
      var report = rendered.report
      report.warnings = payload.warnings + report.warnings
      if let output { report.locate(at: try OutputFile.write(rendered.bytes, to: output)) }
      try StandardOutput.write(json ? try report.json : report.clip.path)
      if !json {
        Terminal.note(report.summary)
        for remark in report.remarks { Terminal.note(remark) }
      }
    }
  }

  private static func container(ofFileNamed name: String) -> SoundFormat.Container? {
    name.split(separator: ".").last.flatMap { SoundFormat.Container(rawValue: $0.lowercased()) }
  }
}

extension ClipReport {
  /// What a person wants to know at a glance.
  var summary: String {
    let seconds = "\(clip.durationMilliseconds / 1000).\((clip.durationMilliseconds % 1000) / 100)"
    let steps = shortened.isEmpty ? "" : ", shortened: \(shortened.joined(separator: ", "))"
    return
      "\(Terminal.printable(text)) (\(seconds) s, \(loudnessLUFS) LUFS, \(voice)\(steps)\(cached ? ", made before" : ""))"
  }

  /// What is not spoken, and the warnings, a line each.
  var remarks: [String] {
    unspoken.map { "\($0.field): not spoken: \(Terminal.printable($0.text))" } + warnings
  }

  fileprivate mutating func locate(at url: URL) {
    clip.name = url.lastPathComponent
    clip.path = url.path(percentEncoded: false)
    clip.url = url.absoluteString
  }
}
