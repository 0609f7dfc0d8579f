// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import SoundLibrary
import SpeechEngine
import SpeechServerTestSupport
import SpeechServers
import TestSupport
import Testing
import Waveforms

/// The sounds of the stand-in server encode the text that was asked for, so what is heard can be read.
@Suite("Speech servers in announcements", .serialized, .timeLimit(.minutes(5)))
struct ServedSpeechTests {
  @Test("a server that may say sums speaks the whole payment in the words that were read back")
  func speaks() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = true }
    let clip = try await announcer.render(try Served.payment("3497.05"), into: workshop.library)
    let words = "Received three thousand four hundred ninety-seven dollars and five cents"
    #expect(clip.report.text == words)
    #expect(EncodedSpeech.text(in: clip.waveform.samples).map(\.withoutSpaceAtEnds) == words)
    #expect((clip.report.method, clip.report.voice) == ("speech", "joe"))
    #expect(!clip.report.reproducible && clip.report.fallback == nil && !clip.report.cached)
    #expect(clip.report.marks.map(\.text) == [words])
    #expect(abs(clip.report.loudnessLUFS + 16) <= 1)
    #expect(workshop.files.contains(clip.report.clip.name))
  }

  @Test("a payment that a server speaks again gets a clip with another name, and the first clip stays unchanged")
  func again() async throws {
    let workshop = try Workshop()
    let count = Locked(0)
    let server = try await StandInSpeechServer { request in
      guard !request.asksForDescription else { return Served.answer(request) }
      let quieter = count.withLock { count in
        count += 1
        return Int16(count)
      }
      // No two sayings of a neural voice are the same.
      return .wyoming(EncodedSpeech.samples(for: request.text).map { $0 / (1 + quieter) })
    }
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = true }
    let payment = try Served.payment()
    let first = try await announcer.render(payment, into: workshop.library)
    let second = try await announcer.render(payment, into: workshop.library)
    #expect(first.report.clip.name != second.report.clip.name && first.report.text == second.report.text)
    let kept = try await Announcer.publishedClip(named: first.report.clip.name, in: workshop.library)
    #expect(kept?.samples == first.waveform.samples)
  }

  @Test("a server's untested voice says everything except the sum, and the engine says the sum")
  func untested() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    let announcer = try workshop.announcer(servedBy: server)
    let clip = try await announcer.render(try Served.payment(payer: "Ada"), into: nil)
    #expect(clip.report.fallback == "amounts_untested" && clip.report.voice == "joe" && !clip.report.reproducible)
    #expect(!server.texts.isEmpty && !server.texts.joined().contains("twelve"))
    #expect(clip.report.marks.map(\.text).joined(separator: " ").contains("twelve"))
  }

  @Test("a server's untested voice does not say a text or a note in which a number word occurs")
  func untestedTexts() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    for saysAmounts in [nil, false, true] {
      let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = saysAmounts }
      for (announcement, number) in [
        (Announcement.text("The coffee is $12.50", locale: "en-US"), "twelve"),
        (Announcement.text("Table seven is free", locale: "en-US"), "seven"),
        (try Served.payment(payer: "Ada", note: "two cakes"), "two cakes"),
      ] {
        let before = server.texts.count
        let clip = try await announcer.render(announcement, into: nil)
        let sent = server.texts.dropFirst(before).joined(separator: " ")
        #expect(sent.contains(number) == (saysAmounts == true), "\(number)")
        #expect(clip.report.text.contains(number), "another voice says the number")
        #expect(clip.report.fallback == (saysAmounts == true ? nil : "amounts_untested"))
      }
      let clip = try await announcer.render(.text("The shop closes", locale: "en-US"), into: nil)
      #expect(clip.report.voice == "joe" && clip.report.fallback == nil)
    }
  }

  @Test("if the sound of a sum is much shorter than the test of the voice measured, another voice speaks the sum")
  func shortened() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    let verdicts = SpeechServerVerdicts(file: workshop.directory.appending(path: "verdicts.json"))
    // The stand-in's sounds are about as long as the words need, so a test that measured twice that refuses them.
    for (lengths, fallback) in [(0.5...1.7, nil), (2.0...2.1, Optional("sound_refused:too_short"))] {
      try verdicts.store(
        SpeechServerVerdict(
          server: "joe", identity: "stand-in 2, voice 1.0", locale: "en-US", isPassed: true, testedAt: Date(),
          amountLengths: lengths))
      #expect(verdicts.all().map(\.amountLengths) == [lengths])
      let announcer = try workshop.announcer(servedBy: server, verdicts: verdicts)
      #expect(try await announcer.render(try Served.payment(), into: nil).report.fallback == fallback)
    }
  }

  @Test("a passed test lets a voice say sums only in the tested version and locale")
  func verdicts() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    let verdicts = SpeechServerVerdicts(file: workshop.directory.appending(path: "verdicts.json"))
    let (tested, other) = ("stand-in 2, voice 1.0", "stand-in 2, voice 0.9")
    for (identity, locale, isPassed, fallback) in [
      (other, "en-US", true, "amounts_untested"), (tested, "en-GB", true, "amounts_untested"),
      (tested, "en-US", false, "amounts_untested"), (tested, "en-US", true, nil),
    ] {
      try verdicts.store(
        SpeechServerVerdict(server: "joe", identity: identity, locale: locale, isPassed: isPassed, testedAt: Date()))
      let announcer = try workshop.announcer(servedBy: server, verdicts: verdicts)
      let clip = try await announcer.render(try Served.payment(), into: nil)
      #expect(clip.report.fallback == fallback, "\(identity) \(locale) \(isPassed)")
    }
  }

  @Test("verdicts that several tests store at the same time are all kept")
  func storedAtOnce() async throws {
    let workshop = try Workshop()
    let file = workshop.directory.appending(path: "verdicts.json")
    let locales = ["en-US", "en-GB", "en-IN", "hi-IN", "ja-JP", "ko-KR", "zh-CN", "id-ID"]
    // Each task has a value of its own, as each process has.
    try await withThrowingTaskGroup { group in
      for locale in locales {
        group.addTask {
          let verdict = SpeechServerVerdict(
            server: "joe", identity: "piper", locale: locale, isPassed: true, testedAt: Date(timeIntervalSince1970: 0))
          try SpeechServerVerdicts(file: file).store(verdict)
        }
      }
      try await group.waitForAll()
    }
    let stored = withExtendedLifetime(workshop) { SpeechServerVerdicts(file: file).all() }
    #expect(Set(stored.map(\.locale)) == Set(locales))
  }

  @Test("whatever a speech server does wrong, the payment sounds as it does without the server")
  func misbehaving() async throws {
    let workshop = try Workshop()
    let payment = try Served.payment(payer: "Ada")
    let plain = try await workshop.announcer.render(payment, into: nil)
    for (index, misbehaviour) in (Misbehaviour.overWyoming + Misbehaviour.overHTTP).enumerated() {
      let isHTTP = index >= Misbehaviour.overWyoming.count
      let server = try await StandInSpeechServer { request in
        request.asksForDescription ? Served.answer(request) : misbehaviour.answer
      }
      let announcer = try workshop.announcer(servedBy: server, overHTTP: isHTTP) { $0.saysAmounts = true }
      let clip = try await announcer.render(payment, into: nil)
      #expect(clip.bytes == plain.bytes && clip.report.clip.name == plain.report.clip.name, "\(misbehaviour)")
      #expect(clip.report.reproducible && clip.report.voice == plain.report.voice)
      #expect(misbehaviour.codes.map(\.rawValue).contains(clip.report.fallback ?? ""), "\(misbehaviour)")
    }
  }

  @Test("while a speech server stalls, another voice speaks all simultaneous payments", arguments: [true, false])
  func stalling(describes: Bool) async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer { request in
      describes && request.asksForDescription ? Served.answer(request) : StandInAnswer([.stall])
    }
    let announcer = try workshop.announcer(servedBy: server) {
      $0.saysAmounts = true
      $0.limits = SpeechServerLimits(whole: .milliseconds(200))
    }
    let plain = try await workshop.announcer.render(try Served.payment(), into: nil)
    try await withThrowingTaskGroup(of: RenderedClip.self) { group in
      for _ in 0..<10 { group.addTask { try await announcer.render(try Served.payment(), into: nil) } }
      for try await clip in group {
        #expect(clip.bytes == plain.bytes)
        let limits = ["connect_timed_out", "first_sound_timed_out", "busy", "resting", "timed_out"]
        #expect(limits.contains(clip.report.fallback ?? ""))
      }
    }
    #expect(announcer.speechServers.statuses.map(\.state) != [.closed])
  }

  @Test("if a server fails within an announcement, the announcement contains no sound of the server")
  func wholly() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer { request in
      request.text.contains("Ada") ? StandInAnswer([.close]) : Served.answer(request)
    }
    // The sum divides the sentence, so that the server is asked for its parts.
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = false }
    let payment = try Served.payment(payer: "Ada")
    let clip = try await announcer.render(payment, into: workshop.library)
    #expect(clip.report.fallback == "closed_early" && clip.report.reproducible)
    #expect(try await clip.bytes == workshop.announcer.render(payment, into: nil).bytes)
    // The clip exists now. It is found, and the report still says why another voice speaks.
    let second = try await announcer.render(payment, into: workshop.library)
    #expect(second.report.cached && second.report.fallback == "closed_early")
  }

  @Test("a speech server that rests after failures gets no request, and the report says that it rests")
  func rests() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer { _ in StandInAnswer([.close]) }
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = true }
    for _ in 0..<2 {
      let clip = try await announcer.render(try Served.payment(), into: nil)
      #expect(clip.report.fallback == "closed_early")
    }
    let asked = server.connectionCount
    #expect(try await announcer.render(try Served.payment(), into: nil).report.fallback == "resting")
    #expect(server.connectionCount == asked && announcer.speechServers.statuses.map(\.state) == [.open])
  }

  @Test("names and notes are not sent to a speech server unless the settings allow it")
  func names() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    for mayHear in [false, true] {
      let announcer = try workshop.announcer(servedBy: server) {
        ($0.hearsNames, $0.saysAmounts) = (mayHear, true)
      }
      let before = server.texts.count
      let clip = try await announcer.render(try Served.payment(payer: "Ada", note: "for the cake"), into: nil)
      let sent = server.texts.dropFirst(before).joined(separator: " ")
      #expect(sent.contains("Ada") == mayHear && sent.contains("cake") == mayHear && sent.contains("twelve"))
      #expect(clip.report.fallback == (mayHear ? nil : "names_stay"))
      #expect(clip.report.text.contains("Ada"), "the engine says the name")
    }
  }

  @Test("a person's recording says the sum, and a server says the name")
  func mixed() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    try await workshop.writePack("voice", in: "en-US", isSynthesized: false)
    let announcer = try workshop.announcer(servedBy: server)
    let clip = try await announcer.render(try Served.payment(payer: "Ada"), into: nil)
    #expect((clip.report.method, clip.report.voice) == ("mixed", "voice"))
    #expect(!clip.report.reproducible && clip.report.fallback == nil)
    #expect(server.texts.count == 1 && server.texts[0].contains("Ada") && !server.texts[0].contains("twelve"))
  }

  @Test("a recorded pack that has every word speaks without a server, and its clip is reproducible")
  func recorded() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    try await workshop.writePack("voice", in: "en-US", isSynthesized: false)
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = true }
    let clip = try await announcer.render(try Served.payment(), into: nil)
    #expect(clip.report.method == "clips" && clip.report.reproducible && clip.report.fallback == nil)
    #expect(server.connectionCount == 0)
  }

  @Test(
    "if a tested server does not answer, a pack built from its voice speaks, and no other built pack does",
    arguments: [(Optional("stand-in 2, voice"), "clips"), (nil, "speech")])
  func builtPack(speechServer: String?, method: String) async throws {
    let workshop = try Workshop()
    let isDown = Locked(true)
    let server = try await StandInSpeechServer { request in
      isDown.withLock { $0 } ? StandInAnswer([.close]) : Served.answer(request)
    }
    try await workshop.writePack("built", in: "en-US", isSynthesized: true, speechServer: speechServer)
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = true }
    let clip = try await announcer.render(try Served.payment(), into: nil)
    #expect((clip.report.method, clip.report.fallback) == (method, "closed_early"))
    isDown.withLock { $0 = false }
    #expect(try await announcer.render(try Served.payment(), into: nil).report.voice == "joe")
  }

  @Test("a request can name a server as its voice, and options that the server cannot follow are refused")
  func named() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    try await workshop.writePack("voice", in: "en-US", isSynthesized: false)
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = true }
    var options = RenderOptions(voice: "joe")
    let clip = try await announcer.render(try Served.payment(), options: options, into: nil)
    #expect(clip.report.voice == "joe" && clip.report.method == "speech")

    options.rate = 200
    await expectInvalid("rate", announcer, try Served.payment(), options)
    await expectInvalid("pack", announcer, try Served.payment(), RenderOptions(pack: "voice", voice: "joe"))
    await expectInvalid("method", announcer, try Served.payment(), RenderOptions(method: .clips, voice: "joe"))
    await expectInvalid("voice joe", announcer, try Workshop.payment(), RenderOptions(voice: "joe"))
  }

  @Test("no speech server is used if the options have an engine's voice or rate, or the method 'clips'")
  func leftOut() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    try await workshop.writePack("built", in: "en-US", isSynthesized: true)
    let announcer = try workshop.announcer(servedBy: server) { $0.saysAmounts = true }
    for options in [RenderOptions(voice: "en-us"), RenderOptions(rate: 200), RenderOptions(method: .clips)] {
      let clip = try await announcer.render(try Served.payment(), options: options, into: nil)
      #expect(clip.report.reproducible && clip.report.fallback == nil)
    }
    #expect(server.connectionCount == 0)
  }

  @Test("a server speaks a language for which the engine has no voice, and the payment is refused if the server fails")
  func withoutVoice() async throws {
    let workshop = try Workshop()
    let isDown = Locked(false)
    let server = try await StandInSpeechServer { request in
      isDown.withLock { $0 } ? StandInAnswer([.close]) : Served.answer(request)
    }
    let announcer = try workshop.announcer(
      servedBy: server, books: try workshop.booksWithoutVoice(), engine: NoEngine()
    ) { $0.saysAmounts = true }
    #expect(try await announcer.render(try Served.payment(), into: nil).report.voice == "joe")
    isDown.withLock { $0 = true }
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(try Served.payment(), into: nil)
    }
    #expect(error?.code == .methodUnavailable)
  }

  @Test("a speech server can speak without an engine")
  func withoutEngine() async throws {
    let workshop = try Workshop()
    let server = try await StandInSpeechServer(answering: Served.answer)
    let announcer = try workshop.announcer(servedBy: server, engine: NoEngine()) { $0.saysAmounts = true }
    #expect(try await announcer.render(try Served.payment(), into: nil).report.voice == "joe")
  }

  @Test("of several speech servers, the first one in the settings that answers speaks")
  func second() async throws {
    let workshop = try Workshop()
    let broken = try await StandInSpeechServer { _ in StandInAnswer([.close]) }
    let working = try await StandInSpeechServer(answering: Served.answer)
    let voices = try [("first", broken), ("second", working)].map { id, server in
      try Served.voice(server, id: id) { $0.saysAmounts = true }
    }
    let announcer = workshop.packAnnouncer(speechServers: SpeechServerVoices(voices, verdicts: nil))
    let clip = try await announcer.render(try Served.payment(), into: nil)
    #expect(clip.report.voice == "second" && clip.report.fallback == nil)
  }

  private func expectInvalid(
    _ subject: String, _ announcer: Announcer, _ announcement: Announcement, _ options: RenderOptions
  ) async {
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(announcement, options: options, into: nil)
    }
    #expect(error?.code == .optionInvalid && error?.subject == subject)
  }
}

/// A stand-in server as the announcer knows it.
enum Served {
  static func payment(
    _ amount: String = "12.50", payer: String? = nil, note: String? = nil
  ) throws -> Announcement {
    try Workshop.payment(amount, "USD", payer: payer, note: note, locale: "en-US")
  }

  /// Describes the server, or speaks a text so that it can be read from the sound.
  static func answer(_ request: StandInSpeechServer.Request) -> StandInAnswer {
    let isWyoming = request.firstLine.hasPrefix("{")
    if request.asksForDescription {
      return isWyoming ? .description(voice: "voice") : .http(body: Array(#"{"data": [{"id": "tts-1"}]}"#.utf8))
    }
    let samples = EncodedSpeech.samples(for: request.text)
    return isWyoming ? .wyoming(samples) : .http(body: StandInAnswer.wav(samples))
  }

  /// The server with limits of time that decide nothing, also on a busy machine.
  static func voice(
    _ server: StandInSpeechServer, id: String = "joe", overHTTP: Bool = false,
    _ change: (inout SpeechServer) -> Void = { _ in }
  ) throws -> SpeechServerVoice {
    let port = try server.port.orThrow("a port")
    var settings = SpeechServer(
      id: id,
      address: overHTTP
        ? try SpeechServerAddress(openAI: "http://127.0.0.1:\(port)/v1")
        : try SpeechServerAddress(wyoming: "tcp://127.0.0.1:\(port)"),
      voice: "voice", locales: ["en-US"])
    settings.limits = SpeechServerLimits(whole: .seconds(120), firstSound: .seconds(110), connect: .seconds(60))
    settings.limits.mostBytes = 4 << 20
    change(&settings)
    return try SpeechServerVoice(settings)
  }
}

extension StandInSpeechServer {
  /// The texts that were asked for.
  fileprivate var texts: [String] { requests.map(\.text).filter { !$0.isEmpty } }
}

extension String {
  fileprivate var withoutSpaceAtEnds: String { trimmingCharacters(in: .whitespaces) }
}

extension Workshop {
  /// Returns an announcer with this workshop's packs and a server.
  fileprivate func announcer(
    servedBy server: StandInSpeechServer, overHTTP: Bool = false, verdicts: SpeechServerVerdicts? = nil,
    books: PhraseBooks? = nil, engine: (any Speaking)? = nil, _ change: (inout SpeechServer) -> Void = { _ in }
  ) throws -> Announcer {
    let voice = try Served.voice(server, overHTTP: overHTTP, change)
    return packAnnouncer(
      books: books, engine: engine, speechServers: SpeechServerVoices([voice], verdicts: verdicts))
  }
}
