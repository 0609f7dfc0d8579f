// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// A destination for sounds: a sound card, a file, or nothing.
///
/// One thread at a time may use an output, for example through a serial dispatch queue:
/// ``play(_:volume:control:)`` blocks that thread. Only the `PlayControl` of a sound may be used by other threads.
public protocol SoundOutput: AnyObject, Sendable {
  /// The output's name on a command line and in messages, in the form that `OutputName` reads.
  var name: String { get }

  /// Plays one sound and returns when its last sample has been heard, or when it was stopped.
  ///
  /// The output is opened if necessary, and stays open for the next sound until ``release()``.
  ///
  /// - Parameters:
  ///   - sound: a sound of any sample rate and length. An empty sound is heard at once.
  ///   - volume: the volume of the sound.
  ///   - control: a new control for each call. It stops, pauses and resumes the sound, and reports its position.
  /// - Throws: `OutputError`. After `deviceLost`, play the sound again from its start when the device is back. A sound
  ///   that was stopped is not an error.
  func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult

  /// Opens the output now, so that its faults are known before the first sound. Without this call,
  /// ``play(_:volume:control:)`` opens it. Call it on the thread that plays.
  ///
  /// - Parameter rate: the rate of the following sounds in Hz.
  /// - Throws: the same `OutputError`s as playing.
  func open(rate: Int) throws(OutputError)

  /// Releases the device, so that other programs can use it. The next sound opens it again. The method may be called
  /// whenever nothing plays, and more than once. It takes at most 2 s, even if the device hangs.
  func release()
}

/// The way in which a sound ended.
public enum PlayResult: Sendable, Hashable {
  /// The sound was heard to its last sample.
  case heard
  /// The sound was stopped on request, after this many ms of it had been heard.
  case stopped(atMilliseconds: Int)
}
