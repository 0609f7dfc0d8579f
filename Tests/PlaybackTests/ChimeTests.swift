// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import SoundOutputs
import Testing
import Waveforms

/// Tests of the chimes of kinds, which measure the sound that is played.
@Suite("Chimes of the kinds of payments", .timeLimit(.minutes(2)))
struct ChimeTests {
  private static let rate = 22_050
  private static let words = 3_000.0
  private static let all = 500.0
  private let lane: TestLane

  init() throws {
    lane = try TestLane()
    // The silence at the end separates the announcements of the recording.
    let words = Tone.sine(Self.words, milliseconds: 300, rate: Self.rate).samples
    lane.renderer.give(
      Waveform(samples: words + Array(repeating: 0, count: Self.rate / 10), sampleRate: Self.rate))
  }

  /// The pitch of a kind's own chime in Hz.
  private func pitch(_ kind: Payment.Kind) throws -> Double {
    700 + 200 * Double(try #require(Payment.Kind.allCases.firstIndex(of: kind)))
  }

  private func chime(_ hertz: Double) -> Waveform { Tone.sine(hertz, milliseconds: 200, rate: Self.rate) }

  private func payment(_ kind: Payment.Kind) -> StoredAnnouncement {
    StoredAnnouncement(
      id: kind.rawValue, lane: "counter", category: PlaybackItem.Category(kind),
      payload: Data(#"{"id":"\#(kind.rawValue)","amount":"1","currency":"USD","kind":"\#(kind.rawValue)"}"#.utf8))
  }

  /// Plays, and returns the pitches of what was heard, in Hz, with at most 10 ms of silence in each sound.
  private func heard(
    _ chimes: Chimes, order: PlaybackOrderChange = { _ in }, _ play: (Player) async throws -> Void
  ) async throws -> [Double] {
    let output = KeptSound()
    var settings = Player.Settings()
    (settings.gap, settings.chimes) = (0, chimes)
    order(&settings)
    let player = Player(
      lane: "counter", ledger: lane.ledger, output: output, render: lane.renderer, settings: settings,
      clock: lane.clock)
    try await player.start()
    try await play(player)
    await player.stop()
    let samples = output.samples
    return Tone.sounds(in: samples, gap: Self.rate / 100).map {
      Tone.frequency(of: samples[$0], rate: Self.rate).rounded()
    }
  }

  private typealias PlaybackOrderChange = (inout Player.Settings) -> Void

  private func play(_ announcement: StoredAnnouncement, on player: Player) async throws {
    let number = try await player.accept(announcement).number
    try await lane.event(.played, number, of: player)
  }

  @Test("each kind of payment has its own chime, and other announcements have the general chime")
  func ownChimes() async throws {
    var chimes = Chimes(all: chime(Self.all))
    for kind in Payment.Kind.allCases { chimes.own[kind] = .sound(chime(try pitch(kind))) }
    let sounds = try await heard(chimes) { player in
      for kind in Payment.Kind.allCases { try await play(payment(kind), on: player) }
      let file = lane.folder.appending(path: "preview.wav")
      try Data(WAVFile.encode(chime(Self.words))).write(to: file)
      try await play(StoredAnnouncement(file: file, paymentKind: .failed, id: "preview"), on: player)
      let text = Data(#"{"aps":{"alert":"Closed"}}"#.utf8)
      try await play(StoredAnnouncement(id: "text", category: .information, payload: text), on: player)
      try await play(StoredAnnouncement(id: "unreadable", category: .information, payload: Data("{".utf8)), on: player)
    }
    let expected = try Payment.Kind.allCases.flatMap { [try pitch($0), Self.words] }
    #expect(sounds == expected + [try pitch(.failed), Self.words, Self.all, Self.words, Self.all, Self.words])
  }

  @Test(
    "a kind of payment without a chime of its own has the general chime, and a kind can have no chime",
    arguments: Payment.Kind.allCases)
  func oneKind(_ own: Payment.Kind) async throws {
    let none = try await heard(Chimes(all: chime(Self.all), own: [own: Chimes.Own.none])) { player in
      for kind in Payment.Kind.allCases { try await play(payment(kind), on: player) }
    }
    #expect(none == Payment.Kind.allCases.flatMap { $0 == own ? [Self.words] : [Self.all, Self.words] })
  }

  @Test("a kind of payment can have a chime even if there is no general chime")
  func onlyOne() async throws {
    let sounds = try await heard(Chimes(own: [.refunded: .sound(chime(900))])) { player in
      for kind in [Payment.Kind.received, .refunded] { try await play(payment(kind), on: player) }
    }
    #expect(sounds == [Self.words, 900, Self.words])
  }

  @Test("a replay has the chime of its payment")
  func replays() async throws {
    let sounds = try await heard(Chimes(all: chime(Self.all), own: [.refunded: .sound(chime(900))])) { player in
      try await play(payment(.refunded), on: player)
      try await lane.event(.played, player.replay(), of: player)
    }
    #expect(sounds.prefix(2) == [900, Self.words] && sounds.dropFirst(2).first == 900 && sounds.last == Self.words)
  }

  @Test("a summary has the chime of received payments, because it contains only received payments")
  func summary() async throws {
    let chimes = Chimes(
      all: chime(Self.all), own: [.received: .sound(chime(900)), .refunded: .sound(chime(1_300))])
    let sounds = try await heard(chimes, order: { $0.order.longestBacklog = 1 }) { player in
      try await player.pause()
      for id in ["a", "b", "c"] {
        let payload = Data(#"{"id":"\#(id)","amount":"1","currency":"USD"}"#.utf8)
        _ = try await player.accept(StoredAnnouncement(id: id, category: .payment, payload: payload))
      }
      try await player.resume()
      for number in 1...3 { try await lane.event(.played, Int64(number), of: player) }
    }
    #expect(sounds == [900, Self.words])
  }

  @Test("changed chimes also apply to waiting announcements")
  func changed() async throws {
    let sounds = try await heard(Chimes(all: chime(Self.all))) { player in
      try await player.pause()
      let number = try await player.accept(payment(.refunded)).number
      try await lane.event(.waiting, number, of: player)
      try await player.setChimes(Chimes(all: chime(Self.all), own: [.refunded: .sound(chime(900))]))
      try await player.resume()
      try await lane.event(.played, number, of: player)
    }
    #expect(sounds == [900, Self.words])
  }
}

/// An output that keeps the samples of all sounds, one after the other.
private final class KeptSound: SoundOutput {
  let name = "kept"
  private let kept = Locked<[Int16]>([])

  var samples: [Int16] { kept.withLock { $0 } }

  func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
    kept.withLock { $0 += sound.samples }
    return .heard
  }

  func open(rate: Int) throws(OutputError) {}
  func release() {}
}
