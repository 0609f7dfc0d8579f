// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundLibrary
import SpeechEngine
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("Hostile texts", .serialized)
struct HostileChecks {
  /// The number of random texts. `make check` takes a part, and `make check-hostile` all 2,000.
  private static let randomCount = Int(ProcessInfo.processInfo.environment["CRIER_HOSTILE_TEXTS"] ?? "") ?? 400

  private static let locales = ["zh-CN", "en-US", "ja-JP", "ko-KR", "hi-IN", "es-MX"]

  /// Returns the texts of `Tests/Fixtures/hostile`, which crash or mislead the engine.
  private static func samples() throws -> [String] {
    let folder = Checkout.installation.data.appending(path: "Tests/Fixtures/hostile")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.map { try String(contentsOf: $0, encoding: .utf8) }
  }

  /// Returns random texts made of pieces of the samples and of other text that has broken engines.
  private static func randomTexts(_ count: Int) throws -> [String] {
    var random = SplitMix64(seed: 666)
    let pieces =
      try samples().flatMap { sample in
        (0..<8).map { _ in
          let start = sample.unicodeScalars.indices.randomElement(using: &random) ?? sample.startIndex
          return String(sample.unicodeScalars[start...].prefix(Int.random(in: 1...40, using: &random)))
        }
      } + [
        "s's", "A.", "a.b.", "[[", "]]", "<speak>", "</speak>", "<audio src=\"x.wav\"/>", "&amp;", "%s%n", "\u{1}8Y",
        "\u{0}", "😀\u{200D}💥",
        "\u{202E}", "٣", "९", "½", "1234567890", "$", "₹", "¥12.50", "支付宝", "こんにちは漢字", "안녕하세요", "नमस्ते", "Ünïcödé",
        "шестнадцать",
        "''''", "----", "....", "\n\n", "\u{FEFF}", "\u{10FFFF}", "e\u{301}\u{301}\u{301}", "ＡＢＣ", "ﷺ", "𝔄𝔅", "🇨🇳",
      ]
    return (0..<count).map { _ in
      (0..<Int.random(in: 1...24, using: &random)).map { _ in
        String(repeating: pieces.randomElement(using: &random) ?? "", count: Int.random(in: 1...12, using: &random))
      }.joined(separator: ["", " ", ", "].randomElement(using: &random) ?? "")
    }
  }

  @Test("in the whole pipeline, each hostile text gives a clip or a clear error, and valid requests are unaffected")
  func wholeWay() async throws {
    let announcer = try Checkout.announcer()
    let good = try Self.good()
    let expected = try await announcer.render(good, into: nil).bytes
    let texts = try Self.samples() + Self.randomTexts(Self.randomCount)
    var outcomes: [String: Int] = [:]
    var slowest = Duration.zero
    try await concurrently(Array(texts.enumerated()), limit: 4) { index, text in
      let start = ContinuousClock.now
      let announcement = try Self.announcement(text, Self.locales[index % 5], asPayer: index % 3 == 0)
      let outcome = await Self.outcome(of: announcement, by: announcer)
      let time = ContinuousClock.now - start
      // A payment is never dropped, whatever its payer and note are.
      if case .payment = announcement { #expect(outcome == "clip") }
      let next = try await announcer.render(good, into: nil)
      #expect(next.bytes == expected)
      return (outcome, time)
    } each: { (outcome, time) in
      outcomes[outcome, default: 0] += 1
      slowest = max(slowest, time)
    }
    print("hostile texts, the whole way: \(outcomes.sorted { $0.key < $1.key }), \(slowest) at most")
    #expect(outcomes.values.reduce(0, +) == texts.count)
    let allowed: Set = ["clip", "field_invalid", "nothing_to_say", "too_long", "text_unspeakable"]
    #expect(allowed.isSuperset(of: outcomes.keys))
    #expect(outcomes["clip", default: 0] > texts.count / 4)
  }

  @Test("hostile texts that go directly to the engine do not stop its speakers, and valid requests are unaffected")
  func engine() async throws {
    let engine = Checkout.engine()
    let good = Utterance(voice: "cmn-latn-pinyin+f2", rate: 170, text: "支付宝到账十二元五角")
    let expected = try await engine.speak(good)
    let voices = ["cmn-latn-pinyin+f2", "en-us+f2", "ja+f2", "ko+f2", "hi+f2"]
    var outcomes: [String: Int] = [:]
    var slowest = Duration.zero
    let texts = try Self.samples() + Self.randomTexts(Self.randomCount)
    try await concurrently(Array(texts.enumerated()), limit: 4) { index, text in
      let start = ContinuousClock.now
      let outcome = await Self.outcome(of: Utterance(voice: voices[index % 5], rate: 160, text: text), by: engine)
      let time = ContinuousClock.now - start
      let next = try await engine.speak(good)
      #expect(next == expected)
      return (outcome, time)
    } each: { (outcome, time) in
      outcomes[outcome, default: 0] += 1
      slowest = max(slowest, time)
    }
    print("hostile texts, at the engine: \(outcomes.sorted { $0.key < $1.key }), \(slowest) at most")
    #expect(Set(["spoken", "text_unspeakable", "request_refused"]).isSuperset(of: outcomes.keys))
    #expect(outcomes["text_unspeakable", default: 0] > 0)
  }

  @Test("killing a speaker every few clips of a batch neither loses nor corrupts a clip")
  func killedSpeakers() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let (calm, engine) = (try Checkout.announcer(), Checkout.engine())
    let shaken = Announcer(phraseBooks: try Checkout.phraseBooks(), readers: .ofCheckout, engine: engine)
    let currency = try Currency(code: "CNY").orThrow("CNY")
    let announcements = try (1...300).map { index in
      Announcement.payment(
        Payment(amount: try Money(minorUnits: Int64(index * 137), currency: currency), locale: Self.locales[index % 5]))
    }
    var names: [[String]] = []
    for (announcer, isShaken) in [(calm, false), (shaken, true)] {
      let library = SoundLibrary(
        container: try GroupContainer(containers: directory, group: isShaken ? "group.shaken" : "group.calm"))
      var done = 0
      try await concurrently(announcements, limit: 4) { announcement in
        _ = try await announcer.render(announcement, into: library)
      } each: { _ in
        done += 1
        if isShaken, done % 10 == 0, let victim = await engine.speakerProcesses().randomElement() {
          kill(victim, SIGKILL)
        }
      }
      names.append(try FileManager.default.contentsOfDirectory(atPath: library.soundsDirectory.path).sorted())
    }
    #expect(names[0].count == 300)
    #expect(names[0] == names[1])
    for name in names[0] {
      let files = try ["group.calm", "group.shaken"].map { group in
        try Data(contentsOf: directory.appending(path: "\(group)/Library/Sounds/\(name)"))
      }
      #expect(files[0] == files[1])
    }
  }

  private static func outcome(of utterance: Utterance, by engine: SpeechEngine) async -> String {
    do {
      _ = try await engine.speak(utterance)
      return "spoken"
    } catch {
      return error.code.rawValue
    }
  }

  private static func good() throws -> Announcement {
    let currency = try Currency(code: "CNY").orThrow("CNY")
    return .payment(
      Payment(amount: try Money(minorUnits: 1_250, currency: currency), channel: "alipay", locale: "zh-CN"))
  }

  private static func announcement(_ text: String, _ locale: String, asPayer: Bool) throws -> Announcement {
    guard asPayer, let currency = Currency(code: "USD") else {
      return .text(String(text.prefix(Announcement.longestText)), locale: locale)
    }
    return .payment(
      Payment(
        amount: try Money(minorUnits: 505, currency: currency), payer: String(text.prefix(Payment.longestPayer)),
        note: String(text.suffix(Payment.longestNote)), locale: locale))
  }

  private static func outcome(of announcement: Announcement, by announcer: Announcer) async
    -> String
  {
    do {
      let clip = try await announcer.render(announcement, into: nil)
      #expect(clip.report.clip.durationMilliseconds < 30_000)
      if case .payment = announcement { #expect(clip.report.amount?.value == "5.05") }
      return "clip"
    } catch let error as AnnouncementError {
      return error.code.rawValue
    } catch let error as AnnouncerError {
      return error.code.rawValue
    } catch let error as SpeechEngineError {
      return error.code.rawValue
    } catch {
      return "\(type(of: error)) \(error)"
    }
  }
}
