// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundFiles
import SoundLibrary
import SoundMeasurement
import Testing
import Waveforms

@Suite("Rendering a clip")
struct AnnouncerTests {
  @Test(
    "clips of every locale have -16 LUFS within 1 LU, at most -1 dBTP, 30 ms of silence at both ends, and 22,050 Hz")
  func sound() async throws {
    let workshop = try Workshop()
    for announcement in try Workshop.announcements() {
      let clip = try await workshop.announcer.render(announcement, into: workshop.library)
      let sound = try SoundReport.measure(file: clip.report.clip.path)
      #expect(abs(sound.loudnessLUFS + 16) <= 1)
      #expect(abs(sound.loudnessLUFS - clip.report.loudnessLUFS) <= 0.05)
      #expect(sound.truePeakDBTP <= -1)
      #expect((25...35).contains(sound.leadingSilenceMilliseconds))
      #expect((25...35).contains(sound.trailingSilenceMilliseconds))
      #expect(abs(sound.dcOffset) < 0.01)
      #expect((sound.sampleRate, sound.channels) == (22_050, 1))
      // Bytes 34 and 35 of a WAV file hold the bits per sample.
      #expect(clip.bytes[34...35] == [16, 0])
      #expect(sound.durationMilliseconds < 30_000)
      #expect(clip.report.clip.bytes == (try Data(contentsOf: URL(filePath: clip.report.clip.path))).count)
    }
  }

  @Test("the report of a clip is an object with all documented keys")
  func report() async throws {
    let workshop = try Workshop()
    let announcement = try Workshop.payment(channel: "alipay")
    let clip = try await workshop.announcer.render(announcement, into: workshop.library)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(clip.report.json.utf8)) as? [String: Any])
    #expect(
      Set(object.keys) == [
        "id", "text", "locale", "method", "voice", "amount", "clip", "loudness_lufs", "marks", "shortened",
        "unspoken", "warnings", "cached", "reproducible", "fallback",
      ])
    #expect(object["text"] as? String == "支付宝到账十二元五角")
    #expect(object["amount"] as? [String: String] == ["currency": "CNY", "value": "12.50"])
    let file = try #require(object["clip"] as? [String: Any])
    #expect(
      Set(file.keys) == [
        "name", "path", "url", "bytes", "sha256", "duration_ms", "format", "encoding", "sample_rate", "channels",
      ])
    let marks = try #require(object["marks"] as? [[String: Any]])
    #expect(marks.compactMap { $0["text"] as? String }.joined() == "支付宝到账十二元五角")
    let ends = marks.compactMap { $0["end_ms"] as? Int }
    #expect(ends == ends.sorted())
    #expect(ends.last ?? 0 <= clip.report.clip.durationMilliseconds)
  }

  @Test("the report of a free text has null for the amount and the id")
  func freeText() async throws {
    let workshop = try Workshop()
    let clip = try await workshop.announcer.render(.text("We close at 9", locale: "en-US"), into: nil)
    #expect(clip.report.text == "We close at nine")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(clip.report.json.utf8)) as? [String: Any])
    #expect(object["amount"] is NSNull)
    #expect(object["id"] is NSNull)
    #expect(workshop.files.isEmpty)
  }

  @Test("the same recipe gives the same name and bytes of a clip, in any home and with any number of speakers")
  func reproducible() async throws {
    let (one, two) = (try Workshop(speakers: 1), try Workshop(speakers: 2))
    for announcement in try Workshop.announcements() {
      let first = try await one.announcer.render(announcement, into: one.library)
      let second = try await two.announcer.render(announcement, into: two.library)
      #expect(first.report.clip.name == second.report.clip.name)
      #expect(first.bytes == second.bytes)
      #expect(!second.report.cached)
    }
  }

  @Test("clips that differ in the amount, the voice, the rate or the format have different names")
  func distinctNames() async throws {
    let plain = RenderOptions()
    let ulaw = SoundFormat(container: .wav, encoding: .ulaw)
    let recipes: [(String, RenderOptions)] = [
      ("12.50", plain), ("12.51", plain), ("12.50", RenderOptions(rate: 150)),
      ("12.50", RenderOptions(voice: "cmn-latn-pinyin+f5")), ("12.50", RenderOptions(format: ulaw)),
      ("12.50", RenderOptions(format: SoundFormat(container: .caf, encoding: .ulaw))),
    ]
    let workshop = try Workshop()
    var names = Set<String>()
    for (amount, options) in recipes {
      let clip = try await workshop.announcer.render(try Workshop.payment(amount), options: options, into: nil)
      names.insert(clip.report.clip.name)
    }
    #expect(names.count == 6)
  }

  @Test("a clip in each format and encoding reads back in that format and encoding")
  func formats() async throws {
    let workshop = try Workshop()
    for container in SoundFormat.Container.allCases {
      for encoding in SoundFormat.encodings(of: container) {
        let options = RenderOptions(format: SoundFormat(container: container, encoding: encoding))
        let clip = try await workshop.announcer.render(
          try Workshop.payment(), options: options, into: workshop.library)
        let sound = try SoundReport.measure(file: clip.report.clip.path)
        #expect(sound.frames * 1000 / sound.sampleRate <= clip.report.clip.durationMilliseconds)
        #expect(abs(sound.loudnessLUFS + 16) <= 1, "\(container) \(encoding)")
        let again = try await workshop.announcer.render(
          try Workshop.payment(), options: options, into: workshop.library)
        #expect(again.report.cached)
        #expect(again.report.clip == clip.report.clip)
      }
    }
  }

  @Test("the error for an invalid option of a clip names the option and the allowed values")
  func badOptions() async throws {
    let workshop = try Workshop()
    let cases: [(RenderOptions, String)] = [
      (
        RenderOptions(format: SoundFormat(container: .caf, encoding: .ima4)),
        "encoding ima4: cannot be stored in caf; choose one of pcm16, ulaw, alaw."
      ),
      (RenderOptions(rate: 20), "rate: is out of range; give 80 to 450 words a minute."),
    ]
    for (options, description) in cases {
      let error = await #expect(throws: AnnouncerError.self) {
        try await workshop.announcer.render(try Workshop.payment(), options: options, into: workshop.library)
      }
      #expect(error?.description == description)
    }
    #expect(workshop.files.isEmpty)
  }

  @Test("two voices in one announcement are equally loud")
  func severalVoices() async throws {
    let workshop = try Workshop()
    let clip = try await workshop.announcer.render(
      try Workshop.payment("5", "USD", payer: "张三丰先生和他的朋友们", locale: "en-US"), into: nil)
    let marks = clip.report.marks
    let boundary = try #require(marks.first { $0.text.unicodeScalars.contains { $0.value > 0x3000 } })
    let cut = boundary.startMilliseconds * clip.waveform.sampleRate / 1000
    func level(_ samples: ArraySlice<Int16>) -> Double {
      let loud = samples.map { Double($0) * Double($0) }.filter { $0 > 250_000 }
      return 10 * log10(loud.reduce(0, +) / Double(max(1, loud.count)))
    }
    #expect(abs(level(clip.waveform.samples[..<cut]) - level(clip.waveform.samples[cut...])) < 3)
  }
}
