// SPDX-License-Identifier: Apache-2.0

/// Waits for as long as a device would take to play a sound.
struct PacedPlaying {
  let clock: any OutputClock
  let control: PlayControl

  /// Blocks until the sound would have been heard, or was stopped.
  ///
  /// - Parameter length: the length of the sound, without pauses.
  func run(_ length: Duration) -> PlayResult {
    var heard = Duration.zero
    while true {
      switch control.state {
      case .stopped:
        return .stopped(atMilliseconds: heard.wholeMilliseconds)
      case .paused:
        clock.wait(until: nil, while: .paused, of: control)
      case .playing:
        let (start, before) = (clock.now(), heard)
        control.setPosition { [clock] in min(length, before + clock.now() - start).wholeMilliseconds }
        clock.wait(until: start + length - before, while: .playing, of: control)
        heard = min(length, before + clock.now() - start)
        let place = heard.wholeMilliseconds
        control.setPosition(place)
        if heard == length { return .heard }
      }
    }
  }
}
