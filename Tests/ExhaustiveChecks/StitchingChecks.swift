// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundLibrary
import SoundMeasurement
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

/// Joined clips do not click and have a consistent level, in every pack that set-up builds.
@Suite("Stitching", .serialized)
struct StitchingChecks {
  private static let locales = ["zh-CN", "en-US", "hi-IN"]

  @Test("in 5,000 random announcements, joining the clips adds no step and no DC jump")
  func joins() async throws {
    let workshop = try await PackWorkshop(Self.locales)
    var joinCount = 0
    var clicks: [String] = []
    for (locale, count) in zip(Self.locales, [1_667, 1_667, 1_666]) {
      let recorded = try workshop.recorded(in: locale)
      let movements = try recorded.movements()
      var random = SplitMix64(seed: 5_000)
      for _ in 0..<count {
        let script = try recorded.writer.script(for: try recorded.randomPayment(using: &random))
        let clips = try recorded.clips(for: script)
        let sound = recorded.pack.stitched(clips, pauses: recorded.writer.book.pauses)
        #expect(sound.marks.count == clips.count)
        let around = try clips.map { try movements[$0.file].orThrow($0.file) }
        for join in Self.joins(of: sound, around) {
          joinCount += 1
          if join.isClick { clicks.append("\(locale) \(script.text): \(join)") }
        }
      }
    }
    #expect(clicks.isEmpty, "\(clicks.count) of \(joinCount), such as \(clicks.first ?? "")")
    #expect(joinCount > 50_000)
  }

  @Test("joined clips have -16 LUFS within 1 LU and at most -1 dBTP even before mastering", arguments: locales)
  func stitchedLevel(locale: String) async throws {
    let workshop = try await PackWorkshop([locale])
    let recorded = try workshop.recorded(in: locale)
    var random = SplitMix64(seed: 16)
    var levels: [Double] = []
    for _ in 0..<500 {
      let script = try recorded.writer.script(for: try recorded.randomPayment(using: &random))
      let sound = recorded.pack.stitched(try recorded.clips(for: script), pauses: recorded.writer.book.pauses)
      let file = workshop.directory.appending(path: "sound.wav")
      try Data(WAVFile.encode(sound)).write(to: file)
      let report = try SoundReport.measure(file: file.path)
      levels.append(report.loudnessLUFS)
      #expect(report.truePeakDBTP <= -1)
    }
    let range = try (levels.min().orThrow("level"))...(levels.max().orThrow("level"))
    #expect(range.lowerBound >= -17 && range.upperBound <= -15, "\(range)")
  }

  @Test(
    "finished sounds that are joined, spoken or mixed have -16 LUFS within 1 LU and at most -1 dBTP", arguments: locales
  )
  func finishedLevel(locale: String) async throws {
    let workshop = try await PackWorkshop([locale])
    let recorded = try workshop.recorded(in: locale)
    let library = SoundLibrary(container: try GroupContainer(containers: workshop.directory, group: "group.crier"))
    var random = SplitMix64(seed: 17)
    let names = ["Ada Lovelace", "王小明", "Smith", "आशा"]
    for (method, expected) in [(RenderOptions.Method.auto, "clips"), (.speech, "speech"), (.auto, "mixed")] {
      for _ in 0..<100 {
        var announcement = try recorded.randomPayment(using: &random)
        if expected == "mixed", case .payment(var payment) = announcement {
          payment.kind = .received
          payment.payer = names.randomElement(using: &random)
          announcement = .payment(payment)
        }
        let clip = try await workshop.announcer.render(
          announcement, options: RenderOptions(method: method), into: library)
        #expect(clip.report.method == expected)
        let report = try SoundReport.measure(file: clip.report.clip.path)
        #expect(abs(report.loudnessLUFS + 16) <= 1, "\(expected) \(clip.report.text)")
        #expect(report.truePeakDBTP <= -1, "\(expected) \(clip.report.text)")
      }
    }
  }

  /// Returns the joins where clips meet each other or silence, which are at both ends of each mark.
  private static func joins(of sound: Waveform, _ clips: [ClipMovement]) -> [JoinMeasurement] {
    sound.marks.indices.flatMap { index in
      let mark = sound.marks[index]
      let places = [(mark.startMilliseconds, index - 1), (mark.endMilliseconds, index + 1)]
      return places.map { milliseconds, neighbour in
        JoinMeasurement(
          of: sound.samples, at: milliseconds * sound.sampleRate / 1000, sampleRate: sound.sampleRate,
          between: [clips[index]] + (clips.indices.contains(neighbour) ? [clips[neighbour]] : []))
      }
    }
  }
}

/// Packs made with the engine, in a folder of their own.
final class PackWorkshop: Sendable {
  let directory: URL
  let announcer: Announcer
  private let shelf: VoicePackShelf

  init(_ locales: [String]) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    let engine = Checkout.engine()
    let voices = directory.appending(path: "Voices", directoryHint: .isDirectory)
    for locale in locales {
      let writer = try Checkout.phraseBooks().writer(for: locale)
      let voice = try #require(writer.book.voice)
      let clips = try await EngineVoice(engine: engine, writer: writer, voice: voice).clips(
        for: try writer.vocabulary())
      let facts = PackFacts(id: locale, locale: locale, speaker: "test", licence: "CC0-1.0")
      _ = try PackWriter(directory: voices).write(facts, clips: clips)
    }
    self.directory = directory
    shelf = VoicePackShelf(folders: [voices])
    announcer = Announcer(
      phraseBooks: try Checkout.phraseBooks(), readers: .ofCheckout, engine: engine, packs: shelf)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  func recorded(in locale: String) throws -> RecordedLocale {
    RecordedLocale(writer: try Checkout.phraseBooks().writer(for: locale), pack: try shelf.pack(id: locale))
  }
}

/// A locale and its pack.
struct RecordedLocale {
  let writer: ScriptWriter
  let pack: VoicePack

  /// Returns a payment of a random kind, channel and currency of the book, with an amount of any length.
  func randomPayment(using random: inout SplitMix64) throws -> Announcement {
    let currency = try writer.bookCurrencies.randomElement(using: &random).orThrow("currency")
    let length = Int.random(in: 1...9, using: &random)
    let highest = (0..<length).reduce(Int64(1)) { power, _ in power * 10 }
    let amount = try Money(minorUnits: Int64.random(in: 1...highest, using: &random), currency: currency)
    let kind = try Payment.Kind.allCases.randomElement(using: &random).orThrow("kind")
    let channel = ["alipay", "paypal", "cash", nil].randomElement(using: &random) ?? nil
    return .payment(Payment(amount: amount, kind: kind, channel: channel, locale: writer.book.locale))
  }

  func clips(for script: Script) throws -> [SelectedClip] {
    try pack.selection(for: script.tokens).map { selection in
      guard case .clip(let clip) = selection else { throw Missing(what: "a clip for \(script.text)") }
      return clip
    }
  }

  func movements() throws -> [String: ClipMovement] {
    try pack.manifest.clips.keys.reduce(into: [:]) { movements, file in
      let bytes = try pack.bytes(ofClip: file).orThrow(file)
      let waveform = try WAVFile.decode([UInt8](bytes)).waveform
      movements[file] = ClipMovement(of: waveform.samples, sampleRate: waveform.sampleRate)
    }
  }
}
