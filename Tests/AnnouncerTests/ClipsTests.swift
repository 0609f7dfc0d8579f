// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundMeasurement
import SpeechEngine
import Testing
import VoicePackIntegrity
import VoicePackMaking
import VoicePacks

@Suite("Announcements from recorded clips")
struct ClipsTests {
  @Test(
    "the method 'auto' uses a pack that has all words, and the report names the pack", arguments: ["zh-CN", "en-US"])
  func auto(locale: String) async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: locale)
    let payment = try Workshop.payment("1234.56", locale == "zh-CN" ? "CNY" : "USD", channel: "alipay", locale: locale)
    let clip = try await announcer.render(payment, into: workshop.library)
    let speech = try await workshop.announcer.render(payment, into: nil)
    #expect(clip.report.method == "clips")
    #expect(clip.report.voice == "voice")
    #expect(clip.report.text == speech.report.text)
    let script = try announcer.script(for: payment)
    #expect(clip.report.marks.map(\.text) == script.tokens.map { ClipToken.words(ofName: $0.name) })
    let again = try await announcer.render(payment, into: workshop.library)
    #expect(again.report.cached)
    #expect(again.report.method == "clips")
    #expect(again.bytes == clip.bytes)
  }

  @Test("an announcement from recorded clips alone does not need the engine")
  func withoutEngine() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", engine: NoEngine())
    let clip = try await announcer.render(try Workshop.payment("12.50", channel: "alipay"), into: nil)
    #expect(clip.report.method == "clips")
  }

  @Test("the sound of recorded words, with or without spoken names, meets the requirements for every clip")
  func sound() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    let payments = [
      try Workshop.payment("12.50", channel: "alipay"), try Workshop.payment("9876543.21"),
      try Workshop.payment("0.05", channel: "cash", payer: "王小明", note: "午餐"),
      try Workshop.payment("10", payer: "John Smith"),
    ]
    for (payment, method) in zip(payments, ["clips", "clips", "mixed", "mixed"]) {
      let clip = try await announcer.render(payment, into: workshop.library)
      #expect(clip.report.method == method)
      let sound = try SoundReport.measure(file: clip.report.clip.path)
      #expect(abs(sound.loudnessLUFS + 16) <= 1)
      #expect(sound.truePeakDBTP <= -1)
      #expect((25...36).contains(sound.leadingSilenceMilliseconds))
      #expect((25...50).contains(sound.trailingSilenceMilliseconds))
      #expect((sound.sampleRate, sound.channels) == (22_050, 1))
    }
  }

  @Test("the method 'clips' omits the payer and the note, and the report says so")
  func clipsOnly() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", engine: NoEngine())
    let clip = try await announcer.render(
      try Workshop.payment("12.50", channel: "alipay", payer: "王小明", note: "午餐"),
      options: RenderOptions(method: .clips), into: nil)
    #expect(clip.report.text == "支付宝到账十二元五角")
    #expect(clip.report.shortened == ["note", "payer"])
  }

  @Test(
    "the method 'auto' skips a pack that lacks words; if a request names the pack, the engine says the missing words")
  func incomplete() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "en-US") { clips in
      clips.filter { $0.tokens != ["cents"] && $0.tokens != ["cent"] }
    }
    let payment = try Workshop.payment("12.50", "USD", locale: "en-US")
    let whole = try Workshop.payment("12", "USD", locale: "en-US")
    #expect(try await announcer.render(payment, into: nil).report.method == "speech")
    #expect(try await announcer.render(whole, into: nil).report.method == "clips")
    let filled = try await announcer.render(payment, options: RenderOptions(pack: "voice"), into: nil)
    #expect(filled.report.method == "mixed")
    #expect(filled.report.text == "Received twelve dollars and fifty cents")
    #expect(filled.report.marks.map(\.text) == ["Received", "twelve", "dollars", "and", "fifty", "cents"])
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(payment, options: RenderOptions(method: .clips), into: nil)
    }
    #expect(error?.code == .methodUnavailable)
  }

  @Test("if a voice or a rate is requested, the engine speaks")
  func engineOptions() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    let payment = try Workshop.payment()
    for options in [
      RenderOptions(rate: 200), RenderOptions(voice: "cmn-latn-pinyin+f5"), RenderOptions(method: .speech),
    ] {
      #expect(try await announcer.render(payment, options: options, into: nil).report.method == "speech")
    }
  }

  @Test("the engine speaks free text, unless a recording has the whole text")
  func freeText() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "en-US") { clips in
      clips
        + clips.prefix(1).map { clip in
          var clip = clip
          (clip.tokens, clip.text) = (["We_close_at_nine"], "We close at nine")
          return clip
        }
    }
    let recorded = try await announcer.render(.text("We close at 9.", locale: "en-US"), into: nil)
    #expect(recorded.report.method == "clips")
    let other = try await announcer.render(.text("twelve dollars", locale: "en-US"), into: nil)
    #expect(other.report.method == "speech")
  }

  @Test("a recorded clip whose words differ from its token is never played")
  func otherWords() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN") { clips in
      clips.map { clip in
        var clip = clip
        if clip.tokens == ["五"] { clip.text = "六" }
        if clip.tokens == ["退款"] { clip.text = "到账" }
        return clip
      }
    }
    #expect(try await announcer.render(try Workshop.payment("5"), into: nil).report.method == "speech")
    #expect(try await announcer.render(try Workshop.payment("4"), into: nil).report.method == "clips")
    let filled = try await announcer.render(
      try Workshop.payment("5"), options: RenderOptions(pack: "voice"), into: nil)
    #expect(filled.report.method == "mixed")
    #expect(filled.report.marks.map(\.text) == ["到账", "五", "元"])
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(
        try Workshop.payment("5"), options: RenderOptions(method: .clips), into: workshop.library)
    }
    #expect(error?.code == .methodUnavailable)
    #expect(workshop.files.isEmpty)
  }

  @Test("without an engine, a payment is spoken from recorded clips and without the payer")
  func engineGone() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", engine: NoEngine())
    let clip = try await announcer.render(try Workshop.payment("5", payer: "王小明"), into: nil)
    #expect(clip.report.method == "clips")
    #expect(clip.report.shortened == ["payer"])
    await #expect(throws: SpeechEngineError.self) {
      try await announcer.render(.text("你好", locale: "zh-CN"), into: nil)
    }
  }

  @Test("a pack with changed files is refused if the request names it, and is otherwise skipped")
  func changed() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    let pack = workshop.voices.appending(path: "voice")
    let names = try FileManager.default.contentsOfDirectory(atPath: pack.path).filter { $0.hasSuffix(".wav") }.sorted()
    let (one, other) = (pack.appending(path: names[3]), pack.appending(path: names[4]))
    try FileManager.default.removeItem(at: one)
    try FileManager.default.copyItem(at: other, to: one)
    await #expect(throws: VoicePackIntegrityError.self) {
      try await announcer.render(try Workshop.payment(), options: RenderOptions(pack: "voice"), into: nil)
    }
    #expect(try await announcer.render(try Workshop.payment(), into: nil).report.method == "speech")
  }

  @Test("the error for a pack that cannot be used names the pack and the choices")
  func unknownPacks() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    let cases: [(RenderOptions, String, String)] = [
      (RenderOptions(pack: "nobody"), "zh-CN", "pack nobody: is not installed; choose one of voice."),
      (
        RenderOptions(pack: "voice"), "ko-KR",
        "pack voice: is recorded in zh-CN, but the announcement is in ko-KR; choose a pack of the announcement's locale: "
          + "no packs are installed; make one with crier voices build."
      ),
      (
        RenderOptions(method: .speech, pack: "voice"), "zh-CN",
        "pack voice: cannot be used with method speech; drop one of them."
      ),
      (
        RenderOptions(method: .clips), "ko-KR",
        "method clips: no voice pack of ko-KR is installed; make one with crier voices build --locale ko-KR, or choose "
          + "the method 'speech' or 'auto'."
      ),
    ]
    for (options, locale, description) in cases {
      let error = await #expect(throws: AnnouncerError.self) {
        try await announcer.render(try Workshop.payment(locale: locale), options: options, into: nil)
      }
      #expect(error?.description == description)
    }
  }

  @Test("the same clips give the same name and bytes in any home, and other clips give another name")
  func reproducible() async throws {
    let (one, two, three) = (try Workshop(), try Workshop(), try Workshop())
    let payment = try Workshop.payment("88.80", channel: "wechat", payer: "Ada")
    let first = try await one.recordedAnnouncer(in: "zh-CN").render(payment, into: one.library)
    let second = try await two.recordedAnnouncer(in: "zh-CN", id: "voice").render(payment, into: two.library)
    let other = try await three.recordedAnnouncer(in: "zh-CN") { $0.filter { $0.position != .final } }
      .render(payment, into: three.library)
    #expect(first.report.clip.name == second.report.clip.name)
    #expect(first.bytes == second.bytes)
    #expect(first.report.clip.name != other.report.clip.name)
  }
}
