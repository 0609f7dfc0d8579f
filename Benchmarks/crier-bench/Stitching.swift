// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import VoicePacks
import Waveforms

/// Measures how fast one thread joins clips of the built packs in memory, from tokens to the bytes of a WAV file, and
/// how fast it copies the same bytes. On request, it writes the same joins to a file for sox.
struct Stitching: AsyncParsableCommand {
  @Option var count = 20_000
  @Option(help: "The file for the inputs of sox: one line of file names for each announcement.") var sox: String?
  @Option(help: "The number of announcements to write for sox.") var soxCount = 200

  func run() async throws {
    let books = try PhraseBooks(directory: Workload.installation.templates)
    let shelf = VoicePackShelf(folders: [Workload.installation.voices])
    var jobs: [(pack: VoicePack, tokens: [ClipToken], pauses: ClipPauses)] = []
    for announcement in try Workload.announcements(count) {
      guard let locale = announcement.locale, let id = shelf.ids(for: locale).first else { continue }
      let writer = try books.writer(for: locale)
      let script = try writer.script(for: announcement)
      jobs.append((try shelf.pack(id: id), script.tokens, writer.book.pauses))
    }
    guard !jobs.isEmpty else { throw ValidationError("There are no voice packs. Run make voices.") }

    var files: [[UInt8]] = []
    files.reserveCapacity(jobs.count)
    var samples = 0
    let start = ContinuousClock.now
    for job in jobs {
      let clips = job.pack.selection(for: job.tokens).compactMap { if case .clip(let clip) = $0 { clip } else { nil } }
      let waveform = job.pack.stitched(clips, pauses: job.pauses)
      samples += waveform.samples.count
      // Only a few files are kept in memory, as in a program that passes its files on.
      let file = WAVFile.encode(waveform)
      if files.count < 64 { files.append(file) } else { files[samples % 64] = file }
    }
    let stitched = (ContinuousClock.now - start) / .seconds(1)
    let averageMilliseconds = Double(samples) / 22.05 / Double(jobs.count)

    var copied = 0
    let copyStart = ContinuousClock.now
    for index in 0..<jobs.count {
      let copy = files[index % files.count].withUnsafeBytes { [UInt8]($0) }
      copied += copy.count
      files[index % files.count] = copy
    }
    let copying = (ContinuousClock.now - copyStart) / .seconds(1)
    print(
      "stitched rate \(Double(jobs.count) / stitched) copied \(Double(jobs.count) / copying) "
        + "average_ms \(averageMilliseconds) megabytes \(copied / 1_000_000)")

    if let sox {
      let lines = jobs.prefix(soxCount).map { job in
        job.pack.selection(for: job.tokens).compactMap { selection in
          guard case .clip(let clip) = selection else { return nil }
          return job.pack.directory.appending(path: clip.file).path(percentEncoded: false)
        }.joined(separator: "\t")
      }
      try Data(lines.joined(separator: "\n").appending("\n").utf8).write(to: URL(filePath: sox))
    }
  }
}
