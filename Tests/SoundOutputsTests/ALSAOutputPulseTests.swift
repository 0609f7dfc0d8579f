// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundOutputTestSupport
import Testing
import Waveforms

@testable import SoundOutputs

/// These tests record the monitor of a sound server's null sink. Each test has its own server. The tests run one after
/// another, because playback has gaps on a busy machine.
///
/// No test asserts how long a call takes: the machine decides this too. A call that must return while a server hangs is
/// proven by its return, because only the test continues the server. `DevicePlayingTests` and `DeviceThreadTests` hold
/// the limits themselves.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ALSAOutputPulseTests {
  private let rate = 48_000

  /// Runs an action on another thread when this much of the sound has been heard.
  private func when(_ control: PlayControl, reaches milliseconds: Int, _ action: @escaping @Sendable () -> Void) {
    Thread.detachNewThread {
      while control.position < milliseconds { control.wait(while: .playing, atMost: .milliseconds(1)) }
      action()
    }
  }

  /// Plays a sound on a server that was stopped. On a busy machine the server may accept no sound for longer than a
  /// device's time limit. The device is then reported as lost again, and the caller must retry.
  private func playWhenAwake(_ sound: Waveform, on output: ALSAOutput) throws -> PlayResult {
    for _ in 0..<4 {
      do throws(OutputError) {
        return try output.play(sound, volume: .full, control: PlayControl())
      } catch {
        guard error.code == .deviceLost else { throw error }
      }
    }
    return try output.play(sound, volume: .full, control: PlayControl())
  }

  @Test("a tone is heard completely, and playing ends at the end of the tone")
  func wholeTone() throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm)
    let control = PlayControl()
    let result = try output.play(Tone.sine(1000, milliseconds: 1000, rate: rate), volume: .full, control: control)
    let returned = recording.frameCount
    #expect(result == .heard)
    #expect(control.position == 1000)

    let samples = try recording.samples(andMilliseconds: 400)
    let sounds = Tone.sounds(in: samples, gap: 480)
    let sound = try #require(sounds.first)
    #expect(sounds.count == 1)
    #expect(abs(sound.count - rate) <= rate * 5 / 1000, "\(sound.count) frames")
    #expect(abs(Tone.frequency(of: samples[sound], rate: rate) - 1000) < 0.5)
    let early = (sound.upperBound - returned) * 1000 / rate
    #expect((-100...30).contains(early), "playing returned \(early) ms before the end was recorded")
  }

  @Test("a sound of the service's own rate keeps its length and pitch, at the requested volume")
  func ownRateAndVolume() throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm)
    let volume = try #require(Volume(percent: 50))
    _ = try output.play(
      Tone.sine(440, milliseconds: 500, rate: 22_050), volume: volume, control: PlayControl())
    let samples = try recording.samples(andMilliseconds: 400)
    let sound = try #require(Tone.sounds(in: samples, gap: 480).first)
    #expect(abs(sound.count - rate / 2) <= rate * 5 / 1000)
    #expect(abs(Tone.frequency(of: samples[sound], rate: rate) - 440) < 0.5)
    #expect(abs(Int(samples[sound].max() ?? 0) - 16_384 / 8) < 40)
  }

  @Test("stopping an output drops the rest of the sound, also in the device's buffer, and reports the position")
  func stopping() throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm)
    let control = PlayControl()
    when(control, reaches: 500) { control.stop() }
    let result = try output.play(Tone.sine(1000, milliseconds: 3000, rate: rate), volume: .full, control: control)
    let sounds = Tone.sounds(in: try recording.samples(andMilliseconds: 400), gap: 480)
    #expect(sounds.count == 1)
    let heard = (sounds.first?.count ?? 0) * 1000 / rate
    #expect(result == .stopped(atMilliseconds: control.position))
    #expect((500..<3000).contains(control.position))
    #expect(abs(control.position - heard) <= 35)
  }

  @Test("a paused sound is silent, and continues without a loss", arguments: [true, false])
  func pausing(mayPause: Bool) throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm, mayPause: mayPause)
    let control = PlayControl()
    let pausedAt = Locked(0)
    when(control, reaches: 400) {
      control.pause()
      _ = try? recording.samples(andMilliseconds: 300)
      pausedAt.withLock { $0 = control.position }
      control.resume()
    }
    let sound = Tone.ramp(milliseconds: 1000, rate: rate)
    let result = try output.play(sound, volume: .full, control: control)
    #expect(result == .heard)
    let samples = try recording.samples(andMilliseconds: 300)
    let parts = Tone.sounds(in: samples, gap: 480)
    try #require(parts.count == 2)
    let (first, second) = (parts[0], parts[1])
    // The ramp rises from 1,000 by 1.6 frames per unit, so the sample identifies the frame.
    let framesPerUnit = Double(sound.samples.count) / 30_000
    let (end, begin) = (samples[first.upperBound - 1], samples[second.lowerBound])
    let repeated = Double(Int(end) - Int(begin)) * framesPerUnit / Double(rate) * 1000
    let heard = Double(Int(end) - 1000) * framesPerUnit / Double(rate) * 1000
    let position = pausedAt.withLock { $0 }
    #expect(abs(Double(position) - heard) <= 35, "the position \(position) ms, and \(heard) ms are heard")
    // The recording misses up to 2 ms where a sound continues; see `Recording`.
    #expect(repeated > -2, "lost")
    #expect(repeated <= 25, "more than a period is repeated")
    #expect(abs(Int(samples[first.lowerBound]) - 1000) < 90, "the first 3 ms are heard")
    #expect(Int(samples[second.upperBound - 1]) > 30_900)
  }

  @Test(
    "a sound paused before its start is heard only after a resume, and a sound stopped before its start is not heard")
  func pausedFirst() throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm)
    let stopped = PlayControl()
    stopped.stop()
    let tone = Tone.sine(1000, milliseconds: 200, rate: rate)
    #expect(try output.play(tone, volume: .full, control: stopped) == .stopped(atMilliseconds: 0))
    let control = PlayControl()
    control.pause()
    let resumedAt = Locked(0)
    Thread.detachNewThread {
      _ = try? recording.samples(andMilliseconds: 300)
      resumedAt.withLock { $0 = recording.frameCount }
      control.resume()
    }
    #expect(try output.play(tone, volume: .full, control: control) == .heard)
    let sounds = Tone.sounds(in: try recording.samples(andMilliseconds: 300), gap: 480)
    #expect(sounds.count == 1)
    #expect((sounds.first?.lowerBound ?? 0) >= resumedAt.withLock { $0 } - 480)
  }

  @Test("consecutive sounds do not overlap, and each sound is heard completely after the caller's gap")
  func gaps() throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm)
    let owner = PlayControl()
    for index in 0..<4 {
      if index > 0 { owner.wait(while: .playing, atMost: .milliseconds(250)) }
      _ = try output.play(Tone.sine(1000, milliseconds: 300, rate: rate), volume: .full, control: PlayControl())
    }
    let sounds = Tone.sounds(in: try recording.samples(andMilliseconds: 300), gap: 480)
    #expect(sounds.count == 4)
    let gaps = zip(sounds, sounds.dropFirst()).map { ($1.lowerBound - $0.upperBound) * 1000 / rate }
    for gap in gaps { #expect(gap >= 250 - 20) }
    for sound in sounds { #expect(abs(sound.count - rate * 3 / 10) <= rate * 5 / 1000) }
  }

  /// With its own latency, the sink of PulseAudio renders 2 s of silence as soon as it has no stream.
  @Test(
    "a sink with its own latency does not change the caller's gap between sounds, also with different rates",
    arguments: [[22_050], [22_050, 48_000]])
  func ownLatencyOfTheSink(rates: [Int]) throws {
    let server = try PulseServer()
    let recording = try server.record(latency: PulseServer.ownLatency)
    let output = ALSAOutput(device: server.pcm)
    let owner = PlayControl()
    for index in 0..<4 {
      if index > 0 { owner.wait(while: .playing, atMost: .milliseconds(250)) }
      let tone = Tone.sine(1000, milliseconds: 300, rate: rates[index % rates.count])
      #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    }
    let sounds = Tone.sounds(in: try recording.samples(andMilliseconds: 2 * PulseServer.ownLatency + 300), gap: 4800)
    #expect(sounds.count == 4)
    let gaps = zip(sounds, sounds.dropFirst()).map { ($1.lowerBound - $0.upperBound) * 1000 / rate }
    // On a busy machine the gaps are longer, but none is as long as the silence of the sink.
    for gap in gaps { #expect((250 - 20..<PulseServer.ownLatency / 2).contains(gap)) }
  }

  /// A recording tells the tone of the lead-in from the sink's own silence.
  private func wakingWithTone(leadIn: Int) -> Waking {
    var waking = Waking()
    (waking.leadInMilliseconds, waking.sound, waking.keepsAwake) = (leadIn, .tone, true)
    return waking
  }

  @Test("a sink that is kept awake gets a quiet tone between two sounds, without a long silence")
  func keptAwake() throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm, waking: wakingWithTone(leadIn: 300))
    let owner = PlayControl()
    for index in 0..<2 {
      if index > 0 { owner.wait(while: .playing, atMost: .seconds(3)) }
      _ = try output.play(Tone.sine(1000, milliseconds: 300, rate: rate), volume: .full, control: PlayControl())
    }
    let samples = try recording.samples(andMilliseconds: 300)
    let sounds = Tone.sounds(in: samples, gap: 480)
    try #require(sounds.count == 2)
    for sound in sounds { #expect(abs(sound.count - rate * 3 / 10) <= rate * 5 / 1000) }
    let leadIn = samples[..<sounds[0].lowerBound].drop { abs($0) < 5 }
    #expect((290...310).contains(leadIn.count * 1000 / rate), "\(leadIn.count * 1000 / rate) ms")
    let between = samples[sounds[0].upperBound..<sounds[1].lowerBound]
    #expect(between.count * 1000 / rate >= 2_980)
    let holes = Tone.sounds(in: Array(between), threshold: 5, gap: 0)
    let silences = zip(holes, holes.dropFirst()).map { ($1.lowerBound - $0.upperBound) * 1000 / rate }
    #expect((silences.max() ?? 9_999) <= 100, "\(silences.max() ?? -1) ms")
  }

  @Test(
    "if the sound server restarts while the sink is kept awake, only a lead-in is added; opening reports a dead server")
  func restartedWhileAwake() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm, waking: wakingWithTone(leadIn: 300))
    let tone = Tone.sine(1000, milliseconds: 200, rate: rate)
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    try output.open(rate: 22_050)
    server.kill()
    let deadline = ContinuousClock.now + .seconds(20)
    var fault: OutputError?
    while fault == nil, ContinuousClock.now < deadline {
      do throws(OutputError) { try output.open(rate: 22_050) } catch { fault = error }
      PlayControl().wait(while: .playing, atMost: .milliseconds(10))
    }
    #expect(fault?.code == .deviceLost)
    let recording = try server.startRecorded()
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    let samples = try recording.samples(andMilliseconds: 300)
    let sound = try #require(Tone.sounds(in: samples, gap: 480).first)
    #expect((290...310).contains(samples[..<sound.lowerBound].drop { abs($0) < 5 }.count * 1000 / rate))
  }

  @Test("a killed sound server counts as a lost device, and after its restart the sound plays")
  func killedServer() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm)
    let control = PlayControl()
    when(control, reaches: 500) { server.kill() }
    let tone = Tone.sine(1000, milliseconds: 1500, rate: rate)
    let error = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: control) }
    #expect(error?.code == .deviceLost)

    let away = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: PlayControl()) }
    #expect(away?.code == .deviceLost)

    try server.start()
    let recording = try server.record()
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    let sounds = Tone.sounds(in: try recording.samples(andMilliseconds: 300), gap: 480)
    #expect(sounds.count == 1)
    #expect(abs((sounds.first?.count ?? 0) - rate * 3 / 2) <= rate * 5 / 1000)
  }

  @Test("a restart of the sound server while nothing plays has no effect")
  func restartedBetween() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm)
    let tone = Tone.sine(1000, milliseconds: 200, rate: rate)
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    server.kill()
    try server.start()
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
  }

  @Test("a sound server that hangs counts as a lost device, in playing and in opening, and releasing it does not hang")
  func frozenServer() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm)
    let control = PlayControl()
    when(control, reaches: 300) { server.freeze() }
    let tone = Tone.sine(1000, milliseconds: 400, rate: rate)
    let error = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: control) }
    #expect(error?.code == .deviceLost)

    let opening = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: PlayControl()) }
    #expect(opening?.code == .deviceLost)
    output.release()

    server.thaw()
    #expect(try playWhenAwake(tone, on: output) == .heard)
  }

  @Test("a device that hangs while it is released is abandoned")
  func releaseOfFrozen() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm)
    let tone = Tone.sine(1000, milliseconds: 100, rate: rate)
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    server.freeze()
    output.release()
    output.release()
    server.thaw()
    #expect(try playWhenAwake(tone, on: output) == .heard)
  }
}
