// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundOutputTestSupport
import SoundOutputs
import Testing
import Waveforms

@Suite struct NullOutputTests {
  private let clock = SimulatedClock()
  private let sound = Waveform(samples: Array(repeating: 1, count: 22_050 * 3), sampleRate: 22_050)

  @Test("the null output plays a sound for as long as the sound lasts")
  func length() throws {
    let control = PlayControl()
    #expect(try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .heard)
    #expect(clock.now() == .seconds(3))
    #expect(control.position == 3000)
  }

  @Test("stopping the null output ends playing and reports the position")
  func stopping() throws {
    let control = PlayControl()
    clock.at(.milliseconds(1234)) { control.stop() }
    #expect(
      try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .stopped(atMilliseconds: 1234))
    #expect(clock.now() == .milliseconds(1234))
    #expect(control.position == 1234)
  }

  @Test("a pause of the null output takes time, but no sound is lost")
  func pausing() throws {
    let control = PlayControl()
    let place = Locked(0)
    clock.at(.seconds(1)) { control.pause() }
    clock.at(.seconds(5)) { place.withLock { $0 = control.position } }
    clock.at(.seconds(11)) { control.resume() }
    #expect(try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .heard)
    #expect(place.withLock { $0 } == 1000)
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

  @Test("the position in a sound follows the time")
  func position() throws {
    let control = PlayControl()
    let places = Locked<[Int]>([])
    for second in 0...2 {
      clock.at(.milliseconds(second * 1000 + 500)) { places.withLock { $0.append(control.position) } }
    }
    #expect(try NullOutput(clock: clock).play(sound, volume: .full, control: control) == .heard)
    #expect(places.withLock { $0 } == [500, 1500, 2500])
  }

  /// A wait that the request does not end would last as long as the sound.
  @Test(
    "with the machine's own clock, a stop from another thread ends a wait of an hour", .timeLimit(.minutes(2)))
  func systemClock() throws {
    let hour = Waveform(samples: Array(repeating: 1, count: 3600), sampleRate: 1)
    let control = PlayControl()
    Thread.detachNewThread {
      while control.position < 20 { control.wait(while: .playing, atMost: .milliseconds(1)) }
      control.stop()
    }
    let result = try NullOutput().play(hour, volume: .full, control: control)
    #expect(result == .stopped(atMilliseconds: control.position))
    #expect((20..<hour.durationMilliseconds).contains(control.position))
  }
}
