// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// Where sounds are heard: a sound card, a file, nothing.
///
/// An output is used by one thread at a time, as on a serial dispatch queue: ``play(_:volume:control:)`` blocks it. Only
/// the `PlayControl` of a playing is for other threads.
public protocol SoundOutput: AnyObject, Sendable {
  /// What it is called on a command line and in messages, as `OutputName` reads it.
  var name: String { get }

  /// Plays one sound and returns when its last sample has been heard, or when it was stopped.
  ///
  /// The output is opened when it is not open, and stays open for the next sound until ``release()``.
  /// - Parameters:
  ///   - sound: any sample rate and length; an empty one is heard at once.
  ///   - volume: how loud.
  ///   - control: a fresh one for each call; it stops, pauses and resumes the sound and tells how far it is.
  /// - Throws: `OutputError`. After `deviceLost`, play the sound again from its start when the device is back.
  ///   To be stopped is not an error.
  func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult

  /// Opens the output now, so that what is wrong with it is known before there is a sound; ``play(_:volume:control:)``
  /// does it by itself. On the thread that plays.
  ///
  /// - Parameter rate: of the sounds to come, in Hz.
  /// - Throws: `OutputError`, as playing would.
  func open(rate: Int) throws(OutputError)

  /// Gives the device back, so that other programs can have it; the next sound opens it again. May be called at any
  /// time when nothing plays, as often as one likes; takes 2 s at most, even if the device hangs.
  func release()
}

/// How a playing ended.
public enum PlayResult: Sendable, Hashable {
  /// To its last sample.
  case heard
  /// On request, after this many ms of the sound had been heard.
  case stopped(atMilliseconds: Int)
}
