// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundLibrary
import SoundOutputs
import SpeechServerTestSupport
import SpeechServers
import SQLiteLedger
import TestSupport
import Testing
import Waveforms

@testable import SpeechEngine

/// Lets payments be spoken by a server that fails at random, and reads from the player's sound what was heard. The
/// sounds of the server and of the stand-in for the engine encode their texts.
@Suite("Payments spoken by a failing speech server", .serialized)
struct SpeechServerChecks {
  /// `make check` speaks 10,000 payments.
  private static let payments = Int(ProcessInfo.processInfo.environment["CRIER_SERVED_PAYMENTS"] ?? "") ?? 10_000

  @Test("each payment is heard once, in order and with its own sum, whatever a speech server does")
  func failing() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "served-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let random = Locked(SplitMix64(seed: 20_261_129))
    let server = try await StandInSpeechServer { request in
      if request.asksForDescription { return .description(voice: "voice") }
      let wrong = Misbehaviour.overWyoming
      let chance = random.withLock { Int.random(in: 0..<100, using: &$0) }
      switch chance {
      case 0..<15: return wrong[random.withLock { Int.random(in: 0..<wrong.count, using: &$0) }].answer
      case 15..<17: return StandInAnswer([.stall])
      default: return .wyoming(EncodedSpeech.samples(for: request.text))
      }
    }
    let port = try server.port.orThrow("a port")
    var settings = SpeechServer(
      id: "joe", address: try SpeechServerAddress(wyoming: "tcp://127.0.0.1:\(port)"), voice: "voice",
      locales: ["en-US"])
    settings.saysAmounts = true
    settings.limits = SpeechServerLimits(whole: .milliseconds(400))
    settings.limits.mostBytes = 2 << 20
    // The clock runs ahead, so that a rest of the server ends after some payments.
    let time = Locked(Duration.zero)
    let voice = try SpeechServerVoice(
      settings,
      now: {
        time.withLock { time in
          time += .seconds(1)
          return time
        }
      })
    let announcer = Announcer(
      phraseBooks: try Checkout.phraseBooks(), readers: .ofCheckout, engine: EncodingEngine(),
      speechServers: SpeechServerVoices([voice], verdicts: nil))
    let library = SoundLibrary(container: try GroupContainer(containers: folder, group: "group.crier"))
    let ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"))
    let output = ListeningOutput()
    var playing = Player.Settings()
    playing.gap = 0
    let player = Player(
      lane: "counter", ledger: ledger, output: output,
      render: AnnouncerRendering(announcer) { _ in library }, settings: playing, summary: { _ in nil })
    var sums: [Int64: Int64] = [:]
    for number in 1...Self.payments {
      let cents = random.withLock { Int64.random(in: 1...99_999_999, using: &$0) }
      let amount = try Money(minorUnits: cents, currency: try Currency(code: "USD").orThrow("USD"))
      var announcement = StoredAnnouncement(
        id: "\(number)", category: .payment, sequence: Int64(number),
        payload: Data(
          #"{"id":"\#(number)","amount":"\#(amount.decimalText)","currency":"USD","locale":"en-US"}"#.utf8))
      announcement.lane = "counter"
      sums[try await ledger.accept(announcement).number] = cents
    }
    try await player.start()
    try await eventually("all payments are heard", within: .seconds(60 + Self.payments / 4)) {
      output.count >= Self.payments
    }
    await player.stop()
    let heard = output.heard
    #expect(heard.map(\.number) == sums.keys.sorted(), "\(heard.count) of \(Self.payments) were heard")
    let reader = try AmountReaders.ofCheckout.reader(for: "en-US")
    var wrong = 0
    for sound in heard {
      let words = (sound.text ?? "").replacing("Received ", with: "")
      let read = try? reader.minorUnits(in: words, currency: "USD", minorDigits: 2)
      if read == nil || read != sums[sound.number] { wrong += 1 }
    }
    #expect(wrong == 0)
    let served = server.requests.count { !$0.asksForDescription }
    // Both voices must have spoken for the check to mean anything.
    #expect(served > Self.payments / 4)
    print("\(Self.payments) payments: \(heard.count) heard, \(wrong) wrong, the server was asked for \(served)")
  }
}

/// An engine whose sounds encode their texts.
private struct EncodingEngine: Speaking {
  func identity() async throws(SpeechEngineError) -> EngineIdentity {
    EngineIdentity(version: "stand-in", dataFingerprint: 1)
  }

  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    let sound = Waveform(samples: EncodedSpeech.samples(for: run.text), sampleRate: EncodedSpeech.sampleRate)
    return (sound, sound.durationMilliseconds)
  }

  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String { "" }
}

/// An output that reads the text of each sound, and takes no time.
private final class ListeningOutput: SoundOutput {
  let name = "listening"
  private let sounds = Locked<[(number: Int64, text: String?)]>([])

  var heard: [(number: Int64, text: String?)] { sounds.withLock { $0 } }
  var count: Int { sounds.withLock { $0.count } }

  func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
    if let number = Int64(control.label) {
      let text = EncodedSpeech.text(in: sound.samples)
      sounds.withLock { $0.append((number, text)) }
    }
    return .heard
  }

  func open(rate: Int) throws(OutputError) {}

  func release() {}
}
