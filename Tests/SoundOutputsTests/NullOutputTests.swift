// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundOutputTestSupport
import SoundOutputs
import Testing
import Waveforms

@Suite struct NullOutputTests {
  private let clock = SimulatedClock()
  private let sound = Waveform(samples: Array(repeating: 1, count: 22_050 * 3), sampleRate: 22_050)

  @Test("playing takes as long as the sound")
  func length() throws {
    let control = PlayControl()
    #expect(try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .heard)
    #expect(clock.now() == .seconds(3))
    #expect(control.position == 3000)
  }

  @Test("stopping ends playing and reports the position")
  func stopping() throws {
    let control = PlayControl()
    clock.at(.milliseconds(1234)) { control.stop() }
    #expect(
      try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .stopped(atMilliseconds: 1234))
    #expect(clock.now() == .milliseconds(1234))
    #expect(control.position == 1234)
  }

  @Test("a pause takes time, but no sound is lost")
  func pausing() throws {
    let control = PlayControl()
    let place = Box(0)
    clock.at(.seconds(1)) { control.pause() }
    clock.at(.seconds(5)) { place.value = control.position }
    clock.at(.seconds(11)) { control.resume() }
    #expect(try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .heard)
    #expect(place.value == 1000)
    #expect(clock.now() == .seconds(13))
  }

  @Test("a sound that is stopped while paused does not continue")
  func stoppingPaused() throws {
    let control = PlayControl()
    clock.at(.seconds(1)) { control.pause() }
    clock.at(.seconds(2)) {
      control.stop()
      control.resume()
    }
    #expect(
      try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .stopped(atMilliseconds: 1000))
  }

  @Test("the position follows the time")
  func position() throws {
    let control = PlayControl()
    let places = Box<[Int]>([])
    for second in 0...2 { clock.at(.milliseconds(second * 1000 + 500)) { places.value.append(control.position) } }
    #expect(try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .heard)
    #expect(places.value == [500, 1500, 2500])
  }

  @Test("with the machine's own clock, a stop from another thread takes effect at once")
  func systemClock() throws {
    let control = PlayControl()
    let asked = Box(SuspendingClock.now)
    Thread.detachNewThread {
      while control.position < 20 { control.wait(while: .playing, atMost: .milliseconds(1)) }
      asked.value = .now
      control.stop()
    }
    let result = try NullOutput().play(sound, volume: .full, control: control)
    #expect(asked.value.duration(to: .now) < .milliseconds(50))
    guard case .stopped(let place) = result else {
      Issue.record("\(result)")
      return
    }
    #expect((20..<200).contains(place))
  }
}
