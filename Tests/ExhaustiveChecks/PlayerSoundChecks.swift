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
  ) async throws -> (heard: Heard, accepted: [Int]) {
    let server = try PulseServer()
    for attempt in 1...40 {
      let lane = try RecordedLane(server: server)
      try await lane.player.start()
      let recording = try server.record()
      let (accepted, span) = try await lane.accept(payments, threads: 8)
      guard span <= .milliseconds(10) else {
        await lane.player.stop(finishingPlaying: false)
        print("\(title): accepted in \(span), tried again")
        continue
      }
      try await lane.happens(.played, times: payments.count)
      let heard = Heard(try recording.samples(andMilliseconds: 400), lane)
      await lane.player.stop()
      let gaps = heard.tones.gaps.sorted().map { String(format: "%.1f", $0) }
      print(
        """
        \(title): \(accepted.count) accepted in \(span) at attempt \(attempt), \(heard.tones.count) heard, gaps of \
        \(gaps.first ?? "-"), \(gaps.isEmpty ? "-" : gaps[gaps.count / 2]), \(gaps.last ?? "-") ms \
        (least, median, most)
        """)
      return (heard, accepted)
    }
    throw Missing(what: "an attempt in which \(payments.count) payments were accepted within 10 ms")
  }

  /// What is heard in a recording.
  private struct Heard {
    /// Sounds as they are: a hole of 10 ms makes two of one.
    let tones: [HeardTone]

    /// Whose sounds they are, one after the other, whatever holes they have: the silence between two is longer.
    let ids: [Int?]

    init(_ samples: [Int16], _ lane: RecordedLane) {
      tones = lane.tones.heard(in: samples, rate: lane.server.rate)
      ids = lane.tones.heard(in: samples, rate: lane.server.rate, hole: 150).map(\.id)
    }
  }

  /// What the time took of what was heard: holes, ends that are missing, and gaps that are too long. What is heard, in
  /// which order and how often is none of it.
  private struct Blemishes {
    private(set) var list: [String] = []

    mutating func add(unless condition: Bool, _ what: @autoclosure () -> String) {
      if !condition { list.append(what()) }
    }

    mutating func add(of tones: [HeardTone]) {
      for tone in tones {
        add(unless: tone.isWhole, "\(tone.id.map(String.init) ?? "none") of \(tone.length) ms")
      }
      for gap in tones.gaps { add(unless: (200...300).contains(gap), "a gap of \(gap) ms") }
    }
  }

  /// Hears something, and hears it again where it has blemishes and the machine itself stood still meanwhile: a sound
  /// server that is not run for 30 ms makes a gap 30 ms longer, whatever the player does.
  ///
  /// The bounds stay what they are, and an attempt passes only within them. One that fails on a machine that ran all the
  /// time is a failure, and so is the last.
  private func expectNoBlemish(_ title: String, _ hear: () async throws -> Blemishes) async throws {
    for attempt in 1...5 {
      let watch = StallWatch()
      let blemishes = try await hear().list
      let stall = watch.longest
      guard !blemishes.isEmpty, stall > .milliseconds(10), attempt < 5 else {
        #expect(blemishes.isEmpty, "at attempt \(attempt), when the machine stood still for \(stall) at most")
        return
      }
      print("\(title): heard again, for the machine stood still for \(stall): \(blemishes.joined(separator: "; "))")
    }
  }

  @Test("20 payments accepted within 10 ms from 8 threads are heard in their order, whole, each once, 250 ms apart")
  func order() async throws {
    try await expectNoBlemish("order of acceptance") {
      let (heard, accepted) = try await hear((0..<20).map { ($0, nil) }, "order of acceptance")
      #expect(accepted.sorted() == Array(0..<20))
      #expect(heard.ids == accepted)
      return blemishes(of: heard.tones)
    }
  }

  @Test("payments with sequence numbers that come in any order are heard by them")
  func sequence() async throws {
    var random = SplitMix64(seed: 20)
    let payments = (0..<20).map { (id: $0, sequence: Int64?.some(Int64($0) + 1)) }.shuffled(using: &random)
    try await expectNoBlemish("order of sequence") {
      let (heard, accepted) = try await hear(payments, "order of sequence")
      #expect(accepted.sorted() == Array(0..<20))
      #expect(accepted != Array(0..<20))
      #expect(heard.ids == Array(0..<20))
      return blemishes(of: heard.tones)
    }
  }

  @Test("a sound server that is killed in the third of eight sounds and comes back later costs none of them")
  func killed() async throws {
    try await expectNoBlemish("killed") {
      let server = try PulseServer()
      let lane = try RecordedLane(server: server, tones: TellingTones(shortest: 600))
      try await lane.player.start()
      let recording = try server.record()
      let accepted = try await lane.accept((0..<8).map { ($0, nil) }, threads: 1).ids
      try await lane.middle(of: 3, in: recording)
      server.kill()
      let before = Heard(try recording.samplesToEnd(), lane)
      try await lane.happens(.deviceLost)
      try await Task.sleep(for: .milliseconds(1500))
      let second = try server.startRecorded()
      try await lane.happens(.played, times: 8)
      let after = Heard(try second.samples(andMilliseconds: 400), lane)
      await lane.player.stop()

      #expect(before.ids == Array(accepted.prefix(3)))
      #expect(before.tones.last?.isWhole == false)
      #expect(after.ids == Array(accepted.dropFirst(2)))
      try await expectLoss(in: lane)
      print(
        "killed: \(before.tones.last?.length ?? 0) ms of the third were heard, and then \(after.ids.count) sounds whole"
      )
      return blemishes(of: before.tones.dropLast(), after.tones)
    }
  }

  @Test("a sound server that hangs in the third of eight sounds and goes on later costs none of them")
  func frozen() async throws {
    try await expectNoBlemish("frozen") {
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
      let heard = Heard(try recording.samples(andMilliseconds: 400), lane)
      await lane.player.stop()

      // What the server had of the third is heard when it goes on, 200 ms at most, and then all of the third.
      #expect(heard.ids == Array(accepted.prefix(3)) + Array(accepted.dropFirst(2)))
      let broken = heard.tones.filter { !$0.isWhole }
      print("frozen: \(broken.first?.length ?? 0) ms of the third were heard, and then it and the others whole")
      #expect(heard.tones.allSatisfy { !$0.isMixed })
      try await expectLoss(in: lane)
      var blemishes = Blemishes()
      blemishes.add(unless: heard.tones.filter(\.isWhole).map(\.id) == accepted, "not all are whole")
      blemishes.add(unless: broken.count == 1, "\(broken.count) are not whole")
      return blemishes
    }
  }

  private func blemishes(of runs: [HeardTone]...) -> Blemishes {
    var blemishes = Blemishes()
    for run in runs {
      #expect(run.allSatisfy { !$0.isMixed })
      blemishes.add(of: run)
    }
    return blemishes
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
