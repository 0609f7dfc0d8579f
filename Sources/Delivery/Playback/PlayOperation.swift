// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundOutputs
import Waveforms

/// How and when a sound ended.
struct PlayEnding: Sendable {
  var result: Result<PlayResult, OutputError>
  /// The time when the sound ended, in ms of the player's clock.
  var at: Int64
}

/// The playback of one sound on a lane's queue. It blocks the queue's thread until the sound has been heard or was
/// stopped by its control, so that sounds never overlap.
///
/// The operation is never cancelled, because an operation cancelled before it begins would never report its end.
final class PlayOperation: Operation, @unchecked Sendable {  // All stored properties are constant.
  private let output: any SoundOutput
  private let sound: Waveform
  private let volume: Volume
  private let control: PlayControl
  private let clock: any PlayerClock
  private let ended: @Sendable (PlayEnding) -> Void

  init(
    _ sound: Waveform, on output: any SoundOutput, volume: Volume, control: PlayControl, clock: any PlayerClock,
    ended: @escaping @Sendable (PlayEnding) -> Void
  ) {
    self.sound = sound
    self.output = output
    self.volume = volume
    self.control = control
    self.clock = clock
    self.ended = ended
  }

  override func main() {
    let result: Result<PlayResult, OutputError>
    do throws(OutputError) {
      result = .success(try output.play(sound, volume: volume, control: control))
    } catch {
      result = .failure(error)
    }
    ended(PlayEnding(result: result, at: clock.now()))
  }
}
