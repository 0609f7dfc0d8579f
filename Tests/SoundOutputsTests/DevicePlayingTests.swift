// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
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

  @Test("a complete sound is heard once, in order, before playing ends, followed by silence")
  func whole() throws {
    let device = SimulatedDevice(clock: clock)
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
    #expect(device.calls == ["prepare", "drop", "prepare"], "the device is ready for the next sound")
    #expect((3000...3040).contains(clock.now().wholeMilliseconds))
  }

  @Test("a sound shorter than the buffer is heard completely")
  func short() throws {
    let device = SimulatedDevice(clock: clock)
    var playing = DevicePlaying(device: device, samples: [1, 2, 3], control: control, clock: clock, watch: { _ in })
    #expect(try playing.run() == .heard)
    #expect(sound(device) == [1, 2, 3])
    #expect(clock.now() < .milliseconds(20))
  }

  @Test("after an underrun playing continues after the heard part, without repetition or loss")
  func underruns() throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(100, .underrun), (1500, .underrun), (2950, .underrun)]
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
  }

  @Test("a sound that was given up while its device hung is dropped when the device wakes up, and not played on")
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

  @Test("after a suspension playing continues at its position, if the device can resume")
  func suspended() throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, .suspended)]
    device.wakingCalls = 3
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
    #expect((3150...3250).contains(clock.now().wholeMilliseconds))
  }

  @Test("a device that cannot resume restarts slightly before the position", arguments: [nil, Int.max])
  func suspendedForGood(wakingCalls: Int?) throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, .suspended)]
    device.wakingCalls = wakingCalls
    #expect(try play(device) == .heard)
    expectNothingLost(device)
  }

  @Test("a pause uses the device's own pause if it has one")
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

  @Test("without a pause of the device, the buffer is dropped and its unheard part is played again")
  func softwarePause() throws {
    let device = SimulatedDevice(clock: clock)
    clock.at(.seconds(1)) { control.pause() }
    clock.at(.seconds(9)) { control.resume() }
    #expect(try play(device) == .heard)
    expectNothingLost(device)
    #expect(device.calls == ["prepare", "drop", "prepare", "drop", "prepare"])
  }

  @Test("stopping, also while paused, drops the buffer and reports what was heard", arguments: [false, true])
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

  @Test("a device that plays no more sound is lost after 2 s", arguments: [0, 1000, 2999])
  func stalled(frame: Int) throws {
    let device = SimulatedDevice(clock: clock)
    device.stallsAt = frame
    let fault = #expect(throws: DeviceFault.self) { try play(device) }
    #expect(fault?.kind == .lost)
    #expect((2000...2050).contains(clock.now().wholeMilliseconds - frame))
  }

  @Test("other faults end playing", arguments: [DeviceFault.Kind.lost, .failed, .busy])
  func faults(kind: DeviceFault.Kind) {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, kind)]
    let fault = #expect(throws: DeviceFault.self) { try play(device) }
    #expect(fault?.kind == kind)
  }

  @Test("the position is reported while a sound plays")
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
