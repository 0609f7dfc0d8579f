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

/// Checks that recordings for a telephone exchange, at 8 kHz, become a voice. They are Debian packages, which
/// `make check` installs.
@Suite("Asterisk's core sounds")
struct AsteriskChecks {
  private static let sounds = URL(filePath: "/usr/share/asterisk/sounds")

  @Test(
    "Asterisk's imported sounds speak US dollars, and the engine speaks the words that the check reports as missing",
    arguments: [
      ("en_US_f_Allison", "en-US", "1234", "clips", ["trillion", "cent", "cents", "Refunded"]),
      ("es_MX_f_Allison", "es-MX", "1234", "mixed", ["dólares", "dólar", "centavos", "con"]),
    ])
  func dollars(folder: String, locale: String, whole: String, method: String, lacking: [String]) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let voices = directory.appending(path: "Voices", directoryHint: .isDirectory)
    let sources = try AsteriskLayout.sources(in: Self.sounds.appending(path: folder), locale: locale)
    let imported = try RecordingImport().recordings(sources)
    #expect(imported.clips.count == sources.count)
    let facts = PackFacts(id: "allison", locale: locale, speaker: "Allison Smith", licence: "CC-BY-SA-3.0")
    try PackWriter(directory: voices).write(facts, clips: imported.clips)

    let books = try Checkout.phraseBooks()
    let dollar = try Currency(code: "USD").orThrow("USD")
    let writer = try books.writer(for: locale)
    let report = PackCheck.check(
      directory: voices.appending(path: "allison"), vocabulary: try writer.vocabulary(currencies: [dollar]),
      amounts: EverydayAmounts(writer: writer, currency: dollar))
    #expect(!report.isUsable)
    let missing = Set(report.findings.filter { $0.code == .missingToken }.map(\.subject))
    #expect(missing.isSuperset(of: lacking), "\(missing)")
    // The clips have no other fault.
    #expect(report.findings.filter { $0.severity == .error && $0.code != .missingToken } == [])

    let announcer = Announcer(
      phraseBooks: books, readers: .ofCheckout, engine: Checkout.engine(), packs: VoicePackShelf(folders: [voices]))
    let library = SoundLibrary(container: try GroupContainer(containers: directory, group: "group.crier"))
    for (amount, expected) in [(whole, method), ("1234.56", "mixed")] {
      let payment = Announcement.payment(
        Payment(amount: try Money(decimalText: amount, currency: dollar), locale: locale))
      let clip = try await announcer.render(payment, options: RenderOptions(pack: "allison"), into: library)
      #expect(clip.report.method == expected)
      #expect(clip.report.voice == "allison")
      let sound = try SoundReport.measure(file: clip.report.clip.path)
      #expect(abs(sound.loudnessLUFS + 16) <= 1)
      #expect(sound.truePeakDBTP <= -1)
      // The automatic choice never changes the voice in the middle of a sum.
      let alone = try await announcer.render(payment, into: nil)
      #expect(alone.report.method == (expected == "clips" ? "clips" : "speech"))
    }
  }
}
