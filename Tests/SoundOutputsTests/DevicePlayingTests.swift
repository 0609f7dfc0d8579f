// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundOutputTestSupport
import Testing

@testable import SoundOutputs

/// Tests of playing with a simulated device and clock, for events that are rare on real devices.
@Suite struct DevicePlayingTests {
  private let clock = SimulatedClock()
  private let control = PlayControl()
  /// 3 s at the simulated rate of 1,000 Hz. The value of each sample is its position.
  private let samples = (0..<3000).map { Int16($0 + 1) }

  private func play(_ device: SimulatedDevice) throws(DeviceFault) -> PlayResult {
    var playing = DevicePlaying(device: device, samples: samples, control: control, clock: clock, watch: { _ in })
    let result = try playing.run()
    if result == .heard { playing.settle() }
    return result
  }

  private func sound(_ device: SimulatedDevice) -> [Int16] { device.heard.filter { $0 != 0 } }

  @Test("a sound is heard completely, once and in order before playing ends, and is followed by silence")
  func whole() throws {
    let device = SimulatedDevice(clock: clock)
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
    #expect(device.calls == ["prepare", "drop", "prepare"], "the device is ready for the next sound")
    #expect((3000...3040).contains(clock.now().wholeMilliseconds))
  }

  @Test("a sound that is shorter than the device's buffer is heard completely")
  func short() throws {
    let device = SimulatedDevice(clock: clock)
    var playing = DevicePlaying(device: device, samples: [1, 2, 3], control: control, clock: clock, watch: { _ in })
    #expect(try playing.run() == .heard)
    #expect(sound(device) == [1, 2, 3])
    #expect(clock.now() < .milliseconds(20))
  }

  @Test("after an underrun, playing continues after the heard part, without repetition or loss")
  func underruns() throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(100, .underrun), (1500, .underrun), (2950, .underrun)]
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
  }

  @Test("a sound that was given up while its device hung is dropped, and does not continue when the device wakes up")
  func abandoned() {
    let device = SimulatedDevice(clock: clock)
    var playing = DevicePlaying(
      device: device, samples: samples, control: control, clock: clock, watch: { _ in },
      isAbandoned: { device.heard.count >= 1_000 })
    #expect(throws: DeviceFault.self) { try playing.run() }
    #expect((1_000...1_050).contains(device.heard.count), "one look later at most")
    #expect(device.calls == ["prepare", "drop"])
    clock.wait(until: clock.now() + .seconds(3), while: .playing, of: control)
    _ = try? device.unheardFrames()
    #expect(device.heard.count <= 1_050, "the buffer holds nothing more of it")
  }

  @Test("after a suspension, the sound continues at its position if the device can resume")
  func suspended() throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, .suspended)]
    device.wakingCalls = 3
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
    #expect((3150...3250).contains(clock.now().wholeMilliseconds))
  }

  @Test(
    "after a suspension, a device that cannot resume begins again slightly before the position",
    arguments: [nil, Int.max])
  func suspendedForGood(wakingCalls: Int?) throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, .suspended)]
    device.wakingCalls = wakingCalls
    #expect(try play(device) == .heard)
    expectNothingLost(device)
  }

  @Test("a pause of a sound uses the device's own pause if the device has one")
  func hardwarePause() throws {
    let device = SimulatedDevice(clock: clock)
    device.canPause = true
    clock.at(.seconds(1)) { control.pause() }
    clock.at(.seconds(9)) { control.resume() }
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
    #expect(device.calls == ["prepare", "pause", "unpause", "drop", "prepare"])
    #expect((11_000...11_050).contains(clock.now().wholeMilliseconds))
  }

  @Test("on a device that cannot pause, a pause drops the buffer, and its unheard part is played again")
  func softwarePause() throws {
    let device = SimulatedDevice(clock: clock)
    clock.at(.seconds(1)) { control.pause() }
    clock.at(.seconds(9)) { control.resume() }
    #expect(try play(device) == .heard)
    expectNothingLost(device)
    #expect(device.calls == ["prepare", "drop", "prepare", "drop", "prepare"])
  }

  @Test(
    "stopping a sound, also while it is paused, drops the buffer and reports what was heard", arguments: [false, true])
  func stopping(canPause: Bool) throws {
    let device = SimulatedDevice(clock: clock)
    device.canPause = canPause
    clock.at(.milliseconds(1000)) { control.pause() }
    clock.at(.milliseconds(2000)) { control.stop() }
    #expect(try play(device) == .stopped(atMilliseconds: 1000))
    #expect(sound(device) == Array(samples.prefix(1000)))
    #expect(device.calls.last == "drop")
    #expect(control.position == 1000)
  }

  @Test("a device that stops playing a sound is lost after 2 s", arguments: [0, 1000, 2999])
  func stalled(frame: Int) throws {
    let device = SimulatedDevice(clock: clock)
    device.stallsAt = frame
    let fault = #expect(throws: DeviceFault.self) { try play(device) }
    #expect(fault?.kind == .lost)
    #expect((2000...2050).contains(clock.now().wholeMilliseconds - frame))
  }

  @Test(
    "if the device is lost, fails or is busy, playing ends with that fault",
    arguments: [DeviceFault.Kind.lost, .failed, .busy])
  func faults(kind: DeviceFault.Kind) {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, kind)]
    let fault = #expect(throws: DeviceFault.self) { try play(device) }
    #expect(fault?.kind == kind)
  }

  @Test("the position is reported while the sound plays")
  func position() throws {
    let device = SimulatedDevice(clock: clock)
    let places = Locked<[Int]>([])
    for second in 0...2 {
      clock.at(.milliseconds(second * 1000 + 500)) { places.withLock { $0.append(control.position) } }
    }
    _ = try play(device)
    let seen = places.withLock { $0 }
    #expect(seen.count == 3)
    #expect(zip(seen, [500, 1500, 2500]).allSatisfy { ($1 - 15...$1).contains($0) }, "\(seen)")
  }

  // MARK: A sink that sleeps

  private func waking(leadIn: Int, _ sound: Waking.Sound = .silence) -> Waking {
    var waking = Waking()
    (waking.leadInMilliseconds, waking.sound) = (leadIn, sound)
    return waking
  }

  /// A device whose sink swallows the first 300 ms.
  private func sleepyDevice() -> SimulatedDevice {
    let device = SimulatedDevice(clock: clock)
    device.swallows = 300
    return device
  }

  /// Plays the sound, and keeps the sink awake for a time.
  private func play(
    _ device: SimulatedDevice, _ waking: Waking, for awake: Duration = .zero, control: PlayControl? = nil
  ) throws(DeviceFault) -> PlayResult {
    var playing = DevicePlaying(
      device: device, samples: samples, control: control ?? self.control, clock: clock, waking: waking, watch: { _ in })
    let result = try playing.run()
    let end = clock.now() + awake
    try playing.keepAwake { [clock] rest in
      clock.wait(until: min(end, clock.now() + rest), while: .playing, of: PlayControl())
      return clock.now() < end
    }
    return result
  }

  @Test("on a sink that swallows its first 300 ms, a sound loses 300 ms, or nothing if it has a lead-in")
  func leadIn() throws {
    let device = sleepyDevice()
    #expect(try play(device) == .heard)
    #expect(sound(device) == Array(samples.dropFirst(300)))
    let other = sleepyDevice()
    #expect(try play(other, waking(leadIn: 300)) == .heard)
    #expect(sound(other) == samples)
    #expect(other.played.firstIndex { $0 != 0 } == 300)
  }

  @Test("the longest lead-in is not mistaken for a device that plays nothing")
  func longLeadIn() throws {
    let device = SimulatedDevice(clock: clock)
    #expect(try play(device, waking(leadIn: Waking.longestLeadIn)) == .heard)
    #expect(device.played.firstIndex { $0 != 0 } == 2_000)
    #expect(sound(device) == samples)
  }

  @Test("the position stays at 0 during the lead-in, and a sound that is stopped in the lead-in was heard for 0 ms")
  func positionInLeadIn() throws {
    let device = SimulatedDevice(clock: clock)
    let places = Locked<[Int]>([])
    for time in [200, 1_000] { clock.at(.milliseconds(time)) { places.withLock { $0.append(control.position) } } }
    #expect(try play(device, waking(leadIn: 500)) == .heard)
    #expect(places.withLock { $0.first == 0 && (470...500).contains($0.last ?? 0) })
    let (stopped, other) = (PlayControl(), SimulatedDevice(clock: clock))
    clock.at(clock.now() + .milliseconds(400)) { stopped.stop() }
    #expect(try play(other, waking(leadIn: 500), control: stopped) == .stopped(atMilliseconds: 0))
    #expect(sound(other).isEmpty && !other.isAwake, "the next sound has a lead-in too")
  }

  @Test("while the sink is kept awake, the next sound has no lead-in, and loses nothing")
  func keptAwake() throws {
    let device = sleepyDevice()
    #expect(try play(device, waking(leadIn: 300), for: .seconds(60)) == .heard)
    let (begin, frames) = (clock.now(), device.played.count)
    #expect(try play(device, waking(leadIn: 300)) == .heard)
    #expect(sound(device) == samples + samples)
    #expect(device.played[frames] == 1 && clock.now() - begin < .milliseconds(3_100))
    #expect(device.played.prefix(frames).dropFirst(3_300).count >= 60_000 - 200)
  }

  @Test("the sink is kept awake after a sound that was stopped, too")
  func keptAwakeAfterStop() throws {
    let (device, stopped) = (sleepyDevice(), PlayControl())
    clock.at(.seconds(1)) { stopped.stop() }
    guard case .stopped = try play(device, waking(leadIn: 300), for: .seconds(5), control: stopped) else {
      return #expect(Bool(false), "the sound was stopped")
    }
    let heard = sound(device).count
    #expect(try play(device, waking(leadIn: 300)) == .heard)
    #expect(Array(sound(device).dropFirst(heard)) == samples)
    #expect(device.played.count < 1_000 + 5_000 + 3_100, "without a second lead-in")
  }

  @Test("the sink stays awake after an underrun; after any other fault, the next sound has a lead-in")
  func faultsWhileAwake() throws {
    let device = sleepyDevice()
    device.faults = [(4_000, .underrun), (9_000, .lost)]
    let fault = #expect(throws: DeviceFault.self) { try play(device, waking(leadIn: 300), for: .seconds(60)) }
    #expect(fault?.kind == .lost && !device.isAwake && (9_000...9_200).contains(device.played.count))
    clock.wait(until: clock.now() + .seconds(1), while: .playing, of: control)
    #expect(try play(device, waking(leadIn: 300)) == .heard)
    #expect(sound(device) == samples + samples)
  }

  @Test("an underrun in the lead-in loses nothing of the sound, and adds no second lead-in")
  func underrunInLeadIn() throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(100, .underrun)]
    #expect(try play(device, waking(leadIn: 500)) == .heard)
    #expect(sound(device) == samples)
    #expect(device.played.firstIndex(of: 1) == 500)
  }

  @Test("after a pause or a sleep of the machine, a sound continues with a lead-in", arguments: [true, false])
  func leadInAfterPause(isPause: Bool) throws {
    let device = sleepyDevice()
    device.canPause = true
    if isPause {
      clock.at(.seconds(1)) { control.pause() }
      clock.at(.seconds(9)) { control.resume() }
    } else {
      device.faults = [(1_000, .suspended)]
      device.wakingCalls = 3
    }
    #expect(try play(device, waking(leadIn: 300)) == .heard)
    expectNothingLost(device)
    #expect(device.played.count { $0 == 0 } >= 600)
  }

  @Test(
    "the tone that keeps a sink awake has -60 dBFS and 100 Hz, meets the sound without a step, and continues after it")
  func wakingTone() throws {
    let device = SimulatedDevice(clock: clock, rate: 48_000, buffer: 9_600, period: 1_200)
    var playing = DevicePlaying(
      device: device, samples: Array(repeating: 20_000, count: 4_800), control: control, clock: clock,
      waking: waking(leadIn: 500, .tone), watch: { _ in })
    _ = try playing.run()
    let end = clock.now() + .seconds(2)
    try playing.keepAwake { [clock] rest in
      clock.wait(until: clock.now() + rest, while: .playing, of: PlayControl())
      return clock.now() < end
    }
    let (before, after) = (device.played.prefix(24_000), device.played.dropFirst(28_800))
    for tone in [before, after] {
      let power = tone.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(tone.count)
      // A sine of full scale has 0 dBFS (AES17).
      #expect(abs(10 * log10(2 * power / (32_767 * 32_767)) + 60) < 0.1)
      #expect(abs(Tone.frequency(of: tone, rate: 48_000) - 100) < 0.1)
      #expect(zip(tone, tone.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }
    #expect(abs(Int(before.last ?? 99)) <= 1 && abs(Int(after.first ?? 99)) <= 1)
    #expect(after.count > 90_000)
  }

  /// Expects that all samples were heard in order. Where playing continued, at most a period may be repeated.
  private func expectNothingLost(_ device: SimulatedDevice) {
    let heard = sound(device)
    #expect(heard.count <= samples.count + 25)
    #expect(heard.count == samples.count || zip(heard, heard.dropFirst()).contains { $1 <= $0 })
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "a sample is missing")
    #expect(heard.first == samples.first)
    #expect(heard.last == samples.last)
  }
}
