// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundOutputTestSupport
import Testing
import Waveforms

@testable import SoundOutputs

/// These tests record the monitor of a sound server's null sink. Each test has its own server. The tests run one after
/// another, because playback has gaps on a busy machine.
@Suite(.serialized) struct ALSAOutputPulseTests {
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

  @Test("a complete tone is heard, and playing ends at its end")
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

  @Test("stopping takes effect within 100 ms, and reports the position")
  func stopping() throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm)
    let control = PlayControl()
    let asked = Box(SuspendingClock.now)
    let askedAt = Box(0)
    when(control, reaches: 500) {
      asked.value = .now
      askedAt.value = recording.frameCount
      control.stop()
    }
    let result = try output.play(Tone.sine(1000, milliseconds: 3000, rate: rate), volume: .full, control: control)
    let returning = asked.value.duration(to: .now)
    let samples = try recording.samples(andMilliseconds: 400)
    let sound = try #require(Tone.sounds(in: samples, gap: 480).first)
    let after = (sound.upperBound - askedAt.value) * 1000 / rate
    let heard = sound.count * 1000 / rate
    #expect(after <= 100)
    #expect(returning < .milliseconds(100))
    guard case .stopped(let place) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(abs(place - heard) <= 35)
  }

  @Test("a paused sound is silent, and continues without a loss", arguments: [true, false])
  func pausing(mayPause: Bool) throws {
    let server = try PulseServer()
    let recording = try server.record()
    let output = ALSAOutput(device: server.pcm, mayPause: mayPause)
    let control = PlayControl()
    let pausedAt = Box(0)
    when(control, reaches: 400) {
      pausedAt.value = recording.frameCount
      control.pause()
      _ = try? recording.samples(andMilliseconds: 300)
      control.resume()
    }
    let sound = Tone.ramp(milliseconds: 1000, rate: rate)
    let result = try output.play(sound, volume: .full, control: control)
    #expect(result == .heard)
    let samples = try recording.samples(andMilliseconds: 300)
    let parts = Tone.sounds(in: samples, gap: 480)
    try #require(parts.count == 2)
    let (first, second) = (parts[0], parts[1])
    // The ramp rises by 1.6 frames per unit, so the sample identifies the frame.
    let framesPerUnit = Double(sound.samples.count) / 30_000
    let (end, begin) = (samples[first.upperBound - 1], samples[second.lowerBound])
    let repeated = Double(Int(end) - Int(begin)) * framesPerUnit / Double(rate) * 1000
    let delay = (first.upperBound - pausedAt.value) * 1000 / rate
    #expect(delay <= 50)
    // The recording misses up to 2 ms where a sound continues; see `Recording`.
    #expect(repeated > -2, "lost")
    #expect(repeated <= 25, "more than a period is repeated")
    #expect(abs(Int(samples[first.lowerBound]) - 1000) < 90, "the first 3 ms are heard")
    #expect(Int(samples[second.upperBound - 1]) > 30_900)
  }

  @Test("a sound paused before it begins is heard only after resuming, and one stopped before is not heard")
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
    let resumedAt = Box(0)
    Thread.detachNewThread {
      _ = try? recording.samples(andMilliseconds: 300)
      resumedAt.value = recording.frameCount
      control.resume()
    }
    #expect(try output.play(tone, volume: .full, control: control) == .heard)
    let sounds = Tone.sounds(in: try recording.samples(andMilliseconds: 300), gap: 480)
    #expect(sounds.count == 1)
    #expect((sounds.first?.lowerBound ?? 0) >= resumedAt.value - 480)
  }

  @Test("consecutive sounds do not overlap, and only the caller determines the gap")
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
    for gap in gaps { #expect((250 - 20...250 + 50).contains(gap)) }
    for sound in sounds { #expect(abs(sound.count - rate * 3 / 10) <= rate * 5 / 1000) }
  }

  @Test("a killed server is a lost device, and after its restart the sound plays")
  func killedServer() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm)
    let control = PlayControl()
    let killed = Box(SuspendingClock.now)
    when(control, reaches: 500) {
      killed.value = .now
      server.kill()
    }
    let tone = Tone.sine(1000, milliseconds: 1500, rate: rate)
    let error = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: control) }
    let time = killed.value.duration(to: .now)
    #expect(error?.code == .deviceLost)
    #expect(time < .seconds(3))

    let away = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: PlayControl()) }
    #expect(away?.code == .deviceLost)

    try server.start()
    let recording = try server.record()
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    let sounds = Tone.sounds(in: try recording.samples(andMilliseconds: 300), gap: 480)
    #expect(sounds.count == 1)
    #expect(abs((sounds.first?.count ?? 0) - rate * 3 / 2) <= rate * 5 / 1000)
  }

  @Test("a server's restart while nothing plays has no effect")
  func restartedBetween() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm)
    let tone = Tone.sine(1000, milliseconds: 200, rate: rate)
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
    server.kill()
    try server.start()
    #expect(try output.play(tone, volume: .full, control: PlayControl()) == .heard)
  }

  @Test("a server that hangs is a lost device, in playing and in opening, and releasing it does not hang")
  func frozenServer() throws {
    let server = try PulseServer()
    let output = ALSAOutput(device: server.pcm)
    let control = PlayControl()
    let frozen = Box(SuspendingClock.now)
    when(control, reaches: 300) {
      frozen.value = .now
      server.freeze()
    }
    let tone = Tone.sine(1000, milliseconds: 400, rate: rate)
    let error = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: control) }
    let time = frozen.value.duration(to: .now)
    #expect(error?.code == .deviceLost)
    #expect(time < .seconds(3))

    let start = SuspendingClock.now
    let opening = #expect(throws: OutputError.self) { try output.play(tone, volume: .full, control: PlayControl()) }
    #expect(opening?.code == .deviceLost)
    output.release()
    #expect(start.duration(to: .now) < .seconds(3.5))

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
    let start = SuspendingClock.now
    output.release()
    output.release()
    #expect(start.duration(to: .now) < .seconds(2.5))
    server.thaw()
    #expect(try playWhenAwake(tone, on: output) == .heard)
  }
}

/// A variable that two threads use alternately.
final class Box<Value: Sendable>: Sendable {
  private let stored: Locked<Value>

  init(_ value: Value) { stored = Locked(value) }

  var value: Value {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}
