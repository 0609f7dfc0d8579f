// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

/// Checks that a recogniser which accepts any number understands English amounts. It is Debian's pocketsphinx, which
/// `make check` installs. `CRIER_AMOUNTS` sets the number of spoken amounts.
@Suite("Amounts that a recogniser understands", .serialized)
struct UnderstandingChecks {
  private let writer: ScriptWriter
  private let measure: UnderstandingMeasure

  init() throws {
    writer = try Checkout.phraseBooks().writer(for: "en-US")
    let recognizer = try PocketSphinx().orThrow("the packages \(PocketSphinx.packages)")
    let count = ProcessInfo.processInfo.environment["CRIER_AMOUNTS"].flatMap(Int.init) ?? 100
    measure = try UnderstandingMeasure(writer: writer, recognizer: recognizer, count: count)
  }

  @Test("a recogniser understands 98 percent of the amounts that the engine speaks without a voice pack")
  func speech() async throws {
    try await expect(98, RenderOptions(method: .speech), by: Checkout.announcer(), named: "speech", method: "speech")
  }

  @Test("a recogniser understands 98 percent of the amounts in the default voice, even if a built pack is installed")
  func byDefault() async throws {
    let pack = try await BuiltPack(writer)
    try await expect(98, RenderOptions(), by: pack.announcer, named: "auto", method: "speech")
  }

  @Test("a recogniser understands 96 percent of the amounts joined from a built pack, and the pack's report agrees")
  func clips() async throws {
    let pack = try await BuiltPack(writer)
    try await expect(96, RenderOptions(method: .clips), by: pack.announcer, named: "clips", method: "clips")
    let understanding = try measure.measure(try VoicePack(directory: pack.directory))
    print("joined, as the pack's report says: \(understanding.understood) of \(understanding.amounts) amounts")
    #expect(understanding.isEnough)
  }

  private func expect(
    _ bar: Int, _ options: RenderOptions, by announcer: Announcer, named name: String, method: String
  ) async throws {
    var sounds: [Waveform] = []
    for payment in measure.payments {
      let clip = try await announcer.render(.payment(payment), options: options, into: nil)
      #expect(clip.report.method == method)
      sounds.append(clip.waveform)
    }
    let understanding = try measure.measure(sounds)
    print("\(name): \(understanding.understood) of \(understanding.amounts) amounts")
    for other in understanding.misunderstood { print("  \(other.said)\n  \(other.heard)") }
    #expect(understanding.understood * 100 >= understanding.amounts * bar)
  }
}

/// The pack that set-up builds for a locale, in a folder of its own.
private final class BuiltPack {
  let directory: URL
  let announcer: Announcer
  private let voices: URL

  init(_ writer: ScriptWriter) async throws {
    voices = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    directory = voices.appending(path: "built", directoryHint: .isDirectory)
    let voice = EngineVoice(engine: Checkout.engine(), writer: writer, voice: try #require(writer.book.voice))
    let facts = PackFacts(
      id: "built", locale: writer.book.locale, speaker: voice.speaker, licence: "CC0-1.0", isSynthesized: true)
    try PackWriter(directory: voices).write(facts, clips: try await voice.clips(for: try writer.vocabulary()))
    announcer = Announcer(
      phraseBooks: try Checkout.phraseBooks(), readers: .ofCheckout, engine: Checkout.engine(),
      packs: VoicePackShelf(folders: [voices]))
  }

  deinit { try? FileManager.default.removeItem(at: voices) }
}
