// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackTestSupport
import SoundOutputTestSupport
import SoundOutputs
import Testing

/// Tests of a player's recorded sound. The tones differ strongly, and short gaps in them are ignored, because a busy
/// machine plays with gaps. The long checks are stricter.
@Suite("Recorded sound of a player", .serialized, .timeLimit(.minutes(2)))
struct RecordedPlaybackTests {
  private let tones = DistinctTones(step: 400, shortest: 600)

  private func heard(_ samples: [Int16], of server: PulseServer) -> [HeardTone] {
    tones.heard(in: samples, rate: server.rate, hole: 100)
  }

  @Test("concurrent payments are played in order, with the gap between them")
  func order() async throws {
    let server = try PulseServer()
    let lane = try RecordedLane(server: server, tones: tones)
    try await lane.player.start()
    let recording = try server.record()
    let accepted = try await lane.accept((0..<4).map { ($0, nil) }, threads: 4).ids
    try await lane.happens(.played, times: 4)
    let sounds = heard(try recording.samples(andMilliseconds: 400), of: server)
    await lane.player.stop()
    #expect(accepted.sorted() == Array(0..<4))
    #expect(sounds.map(\.id) == accepted)
    #expect(sounds.allSatisfy { $0.missing <= 10 && !$0.isMixed })
    for gap in sounds.gaps { #expect(gap >= 250 - 20) }
  }

  @Test("a replay is the word \"again\" followed by the announcement, and the original announcement has no such word")
  func again() async throws {
    let server = try PulseServer()
    let lane = try RecordedLane(server: server, tones: tones)
    try await lane.player.start()
    let recording = try server.record()
    #expect(try await lane.accept([(1, nil)], threads: 1).ids == [1])
    try await lane.happens(.played)
    let replay = try await lane.player.replay()
    try await lane.happens(.played, times: 2)
    try await lane.player.replay(replay)
    try await lane.happens(.played, times: 3)
    let sounds = heard(try recording.samples(andMilliseconds: 400), of: server)
    await lane.player.stop()
    #expect(sounds.map(\.id) == [1, DistinctTones.again, 1, DistinctTones.again, 1])
    #expect(sounds.allSatisfy { $0.missing <= 10 && !$0.isMixed })
    // The pause between two clauses, which is shorter than the gap between two announcements.
    if sounds.count == 5 {
      for index in [1, 3] { #expect(abs(sounds[index].gap(to: sounds[index + 1]) - 180) <= 20) }
    }
  }

  @Test("a sound has a lead-in if the device was closed before, and no lead-in while the device is open")
  func leadIn() async throws {
    let server = try PulseServer()
    var (settings, waking) = (Player.Settings(), Waking())
    settings.idleRelease = 1_500
    (waking.leadInMilliseconds, waking.sound) = (400, .tone)
    let lane = try RecordedLane(server: server, tones: tones, settings: settings, waking: waking)
    try await lane.player.start()
    let recording = try server.record()
    _ = try await lane.accept([(0, nil), (1, nil)], threads: 1)
    try await lane.happens(.played, times: 2)
    // After 1.5 s without a sound the device is closed, and the sink is silent.
    let frames = recording.frameCount
    _ = try recording.samples(andMilliseconds: 3_000)
    _ = try await lane.accept([(2, nil)], threads: 1)
    try await lane.happens(.played, times: 3)
    let samples = try recording.samples(andMilliseconds: 400)
    await lane.player.stop()
    let sounds = heard(samples, of: server)
    #expect(sounds.map(\.id) == [0, 1, 2])
    #expect(sounds.allSatisfy { $0.missing <= 10 && !$0.isMixed })
    let begins = Tone.sounds(in: samples, gap: server.rate / 10).map(\.lowerBound)
    try #require(begins.count == 3)
    // The tone is at most 33 high, and the sink's own silence is 0.
    for (from, begin) in [(0, begins[0]), (frames + server.rate * 2, begins[2])] {
      let leadIn = samples[from..<begin].drop { $0.magnitude < 5 }.count * 1000 / server.rate
      #expect((385...410).contains(leadIn), "\(leadIn) ms")
    }
    // The second one begins after the gap, and not after another lead-in.
    #expect(try #require(sounds.gaps.first) < 250 + 200)
  }

  @Test("a sound is played from its start after its sound server was killed and restarted")
  func killed() async throws {
    let server = try PulseServer()
    let lane = try RecordedLane(server: server, tones: tones)
    try await lane.player.start()
    let recording = try server.record()
    let accepted = try await lane.accept((0..<4).map { ($0, nil) }, threads: 1).ids
    try await lane.middle(of: 2, in: recording)
    server.kill()
    let before = heard(try recording.samplesToEnd(), of: server)
    try await lane.happens(.deviceLost)
    let second = try server.startRecorded()
    try await lane.happens(.deviceBack)
    try await lane.happens(.played, times: 4)
    let after = heard(try second.samples(andMilliseconds: 400), of: server)
    await lane.player.stop()
    #expect(before.map(\.id) == Array(accepted.prefix(2)))
    #expect(after.map(\.id) == Array(accepted.dropFirst()))
    #expect(before.last.map { $0.missing > 10 } ?? false)
    #expect(after.allSatisfy { $0.missing <= 10 })
  }
}
