// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundOutputs
import Waveforms

/// How one sound ended, and when it had been heard.
struct PlayEnding: Sendable {
  var result: Result<PlayResult, OutputError>
  /// In ms of the player's clock.
  var at: Int64
}

/// One sound on a lane's queue. It blocks the queue's thread and is finished when the sound has been heard, or was
/// stopped by its control; so the next can only begin afterwards.
///
/// Nobody cancels it: one that is cancelled before it begins would never tell how it ended.
final class PlayOperation: Operation, @unchecked Sendable {  // All that it has is constant.
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
