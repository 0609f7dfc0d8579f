// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackTestSupport
import SoundOutputTestSupport
import TestSupport
import Testing

/// Checks the sound of a player with a recording of a sound server.
@Suite("A player's sound", .serialized, .timeLimit(.minutes(5)))
struct PlayerSoundChecks {
  /// A folder in memory instead of on a disk, if there is one.
  private static let memory =
    FileManager.default.isWritableFile(atPath: "/dev/shm")
    ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory

  /// The sounds in a recording, and the time for which the machine itself stalled meanwhile.
  private struct Heard {
    /// One announcement: its tone, in pieces if it has holes. The silence between two announcements is longer.
    struct Sound {
      var pieces: [HeardTone]

      private var longest: HeardTone? { pieces.max { $0.length < $1.length } }

      /// The announcement's number; `nil` if a piece that is long enough to identify belongs to another one.
      var id: Int? {
        let ids = Set(pieces.filter { $0.length >= 50 }.map(\.id))
        return ids.count > 1 ? nil : longest?.id
      }

      var length: Double { pieces.reduce(0) { $0 + $1.length } }

      /// The missing part of the tone in ms; negative if more was heard than the tone has.
      var missing: Double { longest.map { $0.length + $0.missing - length } ?? .infinity }

      /// The silence inside the announcement, in ms.
      var holes: Double { pieces.gaps.reduce(0, +) }
    }

    private(set) var sounds: [Sound] = []
    let stall: Duration

    init(_ samples: [Int16], _ lane: RecordedLane, _ watch: StallWatch) {
      stall = watch.longest
      for tone in lane.tones.heard(in: samples, rate: lane.server.rate) {
        if let last = sounds.last?.pieces.last, last.gap(to: tone) < 150 {
          sounds[sounds.count - 1].pieces.append(tone)
        } else {
          sounds.append(Sound(pieces: [tone]))
        }
      }
    }

    var ids: [Int?] { sounds.map(\.id) }

    /// The silences between neighbours, in ms.
    var gaps: [Double] {
      zip(sounds, sounds.dropFirst()).compactMap { sound, next in
        guard let end = sound.pieces.last, let start = next.pieces.first else { return nil }
        return end.gap(to: start)
      }
    }
  }

  /// An effect that a stalled machine may have had on the sound, and its size in ms.
  private struct Blemish {
    let what: String
    let milliseconds: Double
  }

  /// Returns the blemishes of complete sounds: missing ends and pieces, and holes. A sound that is too long or that
  /// overlaps another one is not a blemish but a failure.
  private func blemishes(of sounds: some Sequence<Heard.Sound>) -> [Blemish] {
    sounds.flatMap { sound -> [Blemish] in
      let name = sound.id.map(String.init) ?? "none"
      #expect(sound.missing >= -10, "\(name) has \(sound.length) ms")
      #expect(sound.pieces.allSatisfy { !$0.isMixed })
      return [
        sound.missing > 10 ? Blemish(what: "\(name) lacks \(sound.missing) ms", milliseconds: sound.missing) : nil,
        sound.pieces.count > 1
          ? Blemish(what: "\(name) has holes of \(sound.holes) ms", milliseconds: sound.holes) : nil,
      ].compactMap(\.self)
    }
  }

  /// Returns the blemishes of gaps, which are the parts beyond 50 ms more than the setting. A gap that is shorter by
  /// that much is a failure.
  private func blemishes(ofGaps gaps: [Double]) -> [Blemish] {
    gaps.compactMap { gap in
      #expect(gap >= 200, "a gap of \(gap) ms")
      return gap > 300 ? Blemish(what: "a gap of \(gap) ms", milliseconds: gap - 300) : nil
    }
  }

  /// Records a sound, and repeats the recording if it has blemishes that the machine's own stalls explain. A sound
  /// server that does not run for 30 ms makes a gap 30 ms longer, whatever the player does.
  ///
  /// The limits never change, and an attempt passes only within them. A blemish of more than twice the stall and 10 ms
  /// is a failure, and so is any blemish in the last attempt.
  private func expectNoBlemish(
    _ title: String, _ hear: () async throws -> (blemishes: [Blemish], stall: Duration)
  ) async throws {
    for attempt in 1...5 {
      let (blemishes, stall) = try await hear()
      let explained = stall / .milliseconds(1) * 2 + 10
      guard !blemishes.isEmpty, attempt < 5, blemishes.allSatisfy({ $0.milliseconds <= explained }) else {
        #expect(
          blemishes.map(\.what) == [], "at attempt \(attempt), when the machine stood still for \(stall) at most")
        return
      }
      let list = blemishes.map(\.what).joined(separator: "; ")
      print("\(title): heard again, for the machine stood still for \(stall): \(list)")
    }
  }

  /// Accepts 20 payments from eight threads within 10 ms. Returns the recorded sounds, and the order of the payments.
  ///
  /// A disk may be busy with other work, so an attempt that takes longer is repeated with a new ledger. If the disk is
  /// always slower, the ledger moves to memory. If the processors are slower too, 100 ms are enough: the first sound
  /// still plays then, and this test does not measure the machine's speed.
  private func hear(
    _ payments: [(id: Int, sequence: Int64?)], _ title: String
  ) async throws -> (heard: Heard, accepted: [Int]) {
    let server = try PulseServer()
    for attempt in 1...15 {
      let lane = try RecordedLane(
        server: server, in: attempt <= 3 ? FileManager.default.temporaryDirectory : Self.memory)
      try await lane.player.start()
      let recording = try server.record()
      let watch = StallWatch()
      let (accepted, span) = try await lane.accept(payments, threads: 8)
      guard span <= .milliseconds(attempt <= 6 ? 10 : 100) else {
        await lane.player.stop(finishingPlaying: false)
        print("\(title): accepted in \(span) at attempt \(attempt), tried again")
        continue
      }
      try await lane.happens(.played, times: payments.count)
      let heard = Heard(try recording.samples(andMilliseconds: 400), lane, watch)
      await lane.player.stop()
      let gaps = heard.gaps.sorted().map { String(format: "%.1f", $0) }
      print(
        """
        \(title): \(accepted.count) accepted in \(span) at attempt \(attempt), \(heard.sounds.count) heard, gaps of \
        \(gaps.first ?? "-"), \(gaps.isEmpty ? "-" : gaps[gaps.count / 2]), \(gaps.last ?? "-") ms \
        (least, median, most); the machine stood still for \(heard.stall) at most
        """)
      return (heard, accepted)
    }
    throw Missing(what: "an attempt in which \(payments.count) payments were accepted within 100 ms")
  }

  @Test(
    "of 20 payments that 8 threads send at once, each is heard once, complete, in order, and 250 ms after the previous")
  func order() async throws {
    try await expectNoBlemish("order of acceptance") {
      let (heard, accepted) = try await hear((0..<20).map { ($0, nil) }, "order of acceptance")
      #expect(accepted.sorted() == Array(0..<20))
      #expect(heard.ids == accepted)
      return (blemishes(of: heard.sounds) + blemishes(ofGaps: heard.gaps), heard.stall)
    }
  }

  @Test("payments with sequence numbers are heard in the order of the numbers, whatever the order of their arrival")
  func sequence() async throws {
    var random = SplitMix64(seed: 20)
    let payments = (0..<20).map { (id: $0, sequence: Int64?.some(Int64($0) + 1)) }.shuffled(using: &random)
    try await expectNoBlemish("order of sequence") {
      let (heard, accepted) = try await hear(payments, "order of sequence")
      #expect(accepted.sorted() == Array(0..<20))
      #expect(accepted != Array(0..<20))
      #expect(heard.ids == Array(0..<20))
      return (blemishes(of: heard.sounds) + blemishes(ofGaps: heard.gaps), heard.stall)
    }
  }

  @Test("if a sound server is killed during the third of eight sounds and restarted later, no sound is lost")
  func killed() async throws {
    try await expectNoBlemish("killed") {
      let server = try PulseServer()
      let (lane, recording, watch, accepted) = try await middleOfThird(of: server)
      server.kill()
      let before = Heard(try recording.samplesToEnd(), lane, watch)
      try await lane.happens(.deviceLost)
      try await Task.sleep(for: .milliseconds(1500))
      let second = try server.startRecorded()
      try await lane.happens(.played, times: 8)
      let after = Heard(try second.samples(andMilliseconds: 400), lane, watch)
      await lane.player.stop()

      #expect(before.ids == Array(accepted.prefix(3)))
      let broken = try #require(before.sounds.last)
      #expect(broken.missing > 10)
      #expect(after.ids == Array(accepted.dropFirst(2)))
      try await expectLoss(in: lane)
      print("killed: \(broken.length) ms of the third were heard, and then \(after.sounds.count) sounds whole")
      return (
        blemishes(of: before.sounds.dropLast() + after.sounds) + blemishes(ofGaps: after.gaps), after.stall
      )
    }
  }

  @Test("if a sound server is stopped during the third of eight sounds and continued later, no sound is lost")
  func frozen() async throws {
    try await expectNoBlemish("frozen") {
      let server = try PulseServer()
      let (lane, recording, watch, accepted) = try await middleOfThird(of: server)
      server.freeze()
      try await lane.happens(.deviceLost)
      try await Task.sleep(for: .milliseconds(1500))
      server.thaw()
      try await lane.happens(.played, times: 8)
      let heard = Heard(try recording.samples(andMilliseconds: 400), lane, watch)
      await lane.player.stop()

      // When the server continues, up to 200 ms of the third sound in its buffer are heard, followed by all of the
      // third sound.
      try #require(heard.ids == Array(accepted.prefix(3)) + Array(accepted.dropFirst(2)))
      let broken = heard.sounds[2]
      #expect(broken.missing > 10)
      #expect(broken.pieces.allSatisfy { !$0.isMixed })
      try await expectLoss(in: lane)
      print("frozen: \(broken.length) ms of the third were heard, and then it and the others whole")
      return (blemishes(of: heard.sounds.prefix(2) + heard.sounds.dropFirst(3)), heard.stall)
    }
  }

  /// Plays eight announcements on a sound server, and returns in the middle of the third.
  private func middleOfThird(
    of server: PulseServer
  ) async throws -> (lane: RecordedLane, recording: Recording, watch: StallWatch, accepted: [Int]) {
    // A slow machine notices the middle 150 ms late, and the server's buffer then plays 200 ms more.
    let lane = try RecordedLane(server: server, tones: DistinctTones(shortest: 1_000))
    try await lane.player.start()
    let recording = try server.record()
    let watch = StallWatch()
    let accepted = try await lane.accept((0..<8).map { ($0, nil) }, threads: 1).ids
    try await lane.middle(of: 3, in: recording)
    return (lane, recording, watch, accepted)
  }

  /// Expects that the device was lost in the third announcement and came back with it, and that each was played once.
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
