// SPDX-License-Identifier: Apache-2.0

import SoundOutputTestSupport
import Testing

@testable import SoundOutputs

/// Playing on a device that is simulated, with a clock that is: what real devices do too rarely.
@Suite struct DevicePlayingTests {
  private let clock = SimulatedClock()
  private let control = PlayControl()
  /// 3 s at the simulated 1,000 Hz, each sample its place.
  private let samples = (0..<3000).map { Int16($0 + 1) }

  private func play(_ device: SimulatedDevice) throws(DeviceFault) -> PlayResult {
    var playing = DevicePlaying(device: device, samples: samples, control: control, clock: clock, watch: { _ in })
    let result = try playing.run()
    if result == .heard { playing.settle() }
    return result
  }

  private func sound(_ device: SimulatedDevice) -> [Int16] { device.heard.filter { $0 != 0 } }

  @Test("a sound is heard once, in order, whole, before playing ends, and then there is silence")
  func whole() throws {
    let device = SimulatedDevice(clock: clock)
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
    #expect(device.calls == ["prepare", "drop", "prepare"], "ready for the next one")
    #expect((3000...3040).contains(clock.now().wholeMilliseconds))
  }

  @Test("a sound shorter than the buffer is heard whole")
  func short() throws {
    let device = SimulatedDevice(clock: clock)
    var playing = DevicePlaying(device: device, samples: [1, 2, 3], control: control, clock: clock, watch: { _ in })
    #expect(try playing.run() == .heard)
    #expect(sound(device) == [1, 2, 3])
    #expect(clock.now() < .milliseconds(20))
  }

  @Test("after an underrun it goes on behind what was heard: nothing twice, nothing lost")
  func underruns() throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(100, .underrun), (1500, .underrun), (2950, .underrun)]
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
  }

  @Test("after a suspension it goes on where it was, if the device can")
  func suspended() throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, .suspended)]
    device.wakingCalls = 3
    #expect(try play(device) == .heard)
    #expect(sound(device) == samples)
    #expect((3150...3250).contains(clock.now().wholeMilliseconds))
  }

  @Test("a device that cannot resume begins anew, a little before the place", arguments: [nil, Int.max])
  func suspendedForGood(wakingCalls: Int?) throws {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, .suspended)]
    device.wakingCalls = wakingCalls
    #expect(try play(device) == .heard)
    expectNothingLost(device)
  }

  @Test("a pause is the device's own where it can")
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

  @Test("elsewhere the buffer is dropped, and played again from what was not heard")
  func softwarePause() throws {
    let device = SimulatedDevice(clock: clock)
    clock.at(.seconds(1)) { control.pause() }
    clock.at(.seconds(9)) { control.resume() }
    #expect(try play(device) == .heard)
    expectNothingLost(device)
    #expect(device.calls == ["prepare", "drop", "prepare", "drop", "prepare"])
  }

  @Test("stopping, also while paused, drops what is in the buffer, and says what was heard", arguments: [false, true])
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

  @Test("a device that takes no more sound is lost after 2 s", arguments: [0, 1000, 2999])
  func stalled(frame: Int) throws {
    let device = SimulatedDevice(clock: clock)
    device.stallsAt = frame
    let fault = #expect(throws: DeviceFault.self) { try play(device) }
    #expect(fault?.kind == .lost)
    #expect((2000...2050).contains(clock.now().wholeMilliseconds - frame))
  }

  @Test("other faults end the playing", arguments: [DeviceFault.Kind.lost, .failed, .busy])
  func faults(kind: DeviceFault.Kind) {
    let device = SimulatedDevice(clock: clock)
    device.faults = [(1000, kind)]
    let fault = #expect(throws: DeviceFault.self) { try play(device) }
    #expect(fault?.kind == kind)
  }

  @Test("the place is told while it plays")
  func position() throws {
    let device = SimulatedDevice(clock: clock)
    let places = Box<[Int]>([])
    for second in 0...2 { clock.at(.milliseconds(second * 1000 + 500)) { places.value.append(control.position) } }
    _ = try play(device)
    #expect(zip(places.value, [500, 1500, 2500]).allSatisfy { ($1 - 15...$1).contains($0) }, "\(places.value)")
  }

  /// All samples are there in order; where it went on, at most a period of them twice.
  private func expectNothingLost(_ device: SimulatedDevice) {
    let heard = sound(device)
    #expect(heard.count <= samples.count + 25)
    #expect(heard.count == samples.count || zip(heard, heard.dropFirst()).contains { $1 <= $0 })
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "a sample is missing")
    #expect(heard.first == samples.first)
    #expect(heard.last == samples.last)
  }
}
