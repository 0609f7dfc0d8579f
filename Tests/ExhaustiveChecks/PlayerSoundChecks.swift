// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackTestSupport
import SoundOutputTestSupport
import TestSupport
import Testing

/// What is heard of a player: through a sound server, by a recording of what it plays.
@Suite("A player's sound", .serialized, .timeLimit(.minutes(5)))
struct PlayerSoundChecks {
  /// Accepts 20 payments from eight threads within 10 ms and returns what was heard, and in which order they came.
  ///
  /// A disk may be busy elsewhere: what takes longer is tried again, with a ledger of its own.
  private func hear(
    _ payments: [(id: Int, sequence: Int64?)], _ title: String
  ) async throws -> (heard: [HeardTone], accepted: [Int]) {
    let server = try PulseServer()
    for attempt in 1...10 {
      let lane = try RecordedLane(server: server)
      try await lane.player.start()
      let recording = try server.record()
      let (accepted, span) = try await lane.accept(payments, threads: 8)
      guard span <= .milliseconds(10) || attempt == 10 else {
        await lane.player.stop(finishingPlaying: false)
        print("\(title): accepted in \(span), tried again")
        continue
      }
      #expect(span <= .milliseconds(10))
      try await lane.happens(.played, times: payments.count)
      let heard = lane.tones.heard(in: try recording.samples(andMilliseconds: 400), rate: server.rate)
      await lane.player.stop()
      let gaps = heard.gaps.sorted().map { String(format: "%.1f", $0) }
      print(
        """
        \(title): \(accepted.count) accepted in \(span) at attempt \(attempt), \(heard.count) heard, gaps of \
        \(gaps.first ?? "-"), \(gaps.isEmpty ? "-" : gaps[gaps.count / 2]), \(gaps.last ?? "-") ms \
        (least, median, most)
        """)
      return (heard, accepted)
    }
    throw Missing(what: "an attempt")
  }

  private func expectWhole(_ heard: [HeardTone]) {
    for tone in heard {
      #expect(tone.isWhole, "\(tone.id.map(String.init) ?? "none") of \(tone.length) ms")
      #expect(!tone.isMixed)
    }
    for gap in heard.gaps { #expect((200...300).contains(gap), "a gap of \(gap) ms") }
  }

  @Test("20 payments accepted within 10 ms from 8 threads are heard in their order, whole, each once, 250 ms apart")
  func order() async throws {
    let (heard, accepted) = try await hear((0..<20).map { ($0, nil) }, "order of acceptance")
    #expect(accepted.sorted() == Array(0..<20))
    #expect(heard.map(\.id) == accepted)
    expectWhole(heard)
  }

  @Test("payments with sequence numbers that come in any order are heard by them")
  func sequence() async throws {
    var random = SplitMix64(seed: 20)
    let payments = (0..<20).map { (id: $0, sequence: Int64?.some(Int64($0) + 1)) }.shuffled(using: &random)
    let (heard, accepted) = try await hear(payments, "order of sequence")
    #expect(accepted.sorted() == Array(0..<20))
    #expect(accepted != Array(0..<20))
    #expect(heard.map(\.id) == Array(0..<20))
    expectWhole(heard)
  }

  @Test("a sound server that is killed in the third of eight sounds and comes back later costs none of them")
  func killed() async throws {
    let server = try PulseServer()
    let lane = try RecordedLane(server: server, tones: TellingTones(shortest: 600))
    try await lane.player.start()
    let recording = try server.record()
    let accepted = try await lane.accept((0..<8).map { ($0, nil) }, threads: 1).ids
    try await lane.middle(of: 3, in: recording)
    server.kill()
    let before = lane.tones.heard(in: try recording.samplesToEnd(), rate: server.rate)
    try await lane.happens(.deviceLost)
    try await Task.sleep(for: .milliseconds(1500))
    let second = try server.startRecorded()
    try await lane.happens(.played, times: 8)
    let after = lane.tones.heard(in: try second.samples(andMilliseconds: 400), rate: server.rate)
    await lane.player.stop()

    #expect(before.map(\.id) == Array(accepted.prefix(3)))
    #expect(before.map(\.isWhole) == [true, true, false])
    #expect(after.map(\.id) == Array(accepted.dropFirst(2)))
    expectWhole(after)
    try await expectLoss(in: lane)
    print("killed: \(before.last?.length ?? 0) ms of the third were heard, and then \(after.count) sounds whole")
  }

  @Test("a sound server that hangs in the third of eight sounds and goes on later costs none of them")
  func frozen() async throws {
    let server = try PulseServer()
    let lane = try RecordedLane(server: server, tones: TellingTones(shortest: 600))
    try await lane.player.start()
    let recording = try server.record()
    let accepted = try await lane.accept((0..<8).map { ($0, nil) }, threads: 1).ids
    try await lane.middle(of: 3, in: recording)
    server.freeze()
    try await lane.happens(.deviceLost)
    try await Task.sleep(for: .milliseconds(1500))
    server.thaw()
    try await lane.happens(.played, times: 8)
    let heard = lane.tones.heard(in: try recording.samples(andMilliseconds: 400), rate: server.rate)
    await lane.player.stop()

    // What the server had of the third is heard when it goes on, 200 ms at most.
    let broken = heard.filter { !$0.isWhole }
    #expect(heard.filter(\.isWhole).map(\.id) == accepted)
    #expect(heard.prefix(4).map(\.id) == [accepted[0], accepted[1], accepted[2], accepted[2]])
    #expect(broken.count == 1)
    print("frozen: \(broken.first?.length ?? 0) ms of the third were heard, and then it and the others whole")
    #expect(heard.allSatisfy { !$0.isMixed })
    try await expectLoss(in: lane)
  }

  /// The device was lost in the third announcement, and came back with it; each was played once.
  private func expectLoss(in lane: RecordedLane) async throws {
    let events = try await lane.events()
    let third = events.filter { $0.kind == .played }.dropFirst(2).first?.number
    let kinds: Set<Ledger.Event.Kind> = [.deviceLost, .deviceBack]
    let ofDevice = events.filter { kinds.contains($0.kind) }
    #expect(ofDevice.map(\.kind) == [.deviceLost, .deviceBack])
    #expect(ofDevice.allSatisfy { $0.number == third })
    #expect(events.count { $0.kind == .played } == 8)
  }
}
