// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// The settings for a sink that sleeps, such as a loudspeaker on Bluetooth or HDMI. Such a sink wakes up when it gets
/// sound, and does not play the part that it gets before it is awake.
public struct Waking: Sendable, Hashable {
  /// The kind of sound that keeps the sink awake before and between other sounds.
  public enum Sound: String, Sendable, Hashable, CaseIterable {
    case silence
    /// A faint tone, for a sink that listens for a signal and sleeps in digital silence.
    case tone
  }

  /// The longest lead-in, in ms.
  public static let longestLeadIn = 2_000

  /// The length of the lead-in in ms, 0 to ``longestLeadIn``: the silence or tone before the first sound after the
  /// device was opened, was paused or slept. The lead-in is not part of that sound.
  public var leadInMilliseconds = 0

  public var sound = Sound.silence

  /// Whether the sink gets ``sound`` between the sounds too, as long as the device stays open. With a lead-in, the sink
  /// always gets ``sound``, because a sink that falls asleep between two sounds would miss the start of the second
  /// sound, which has no lead-in.
  public var keepsAwake = false

  public init() {}

  /// Whether the device gets anything other than the sounds.
  var isUsed: Bool { leadInMilliseconds > 0 || keepsAwake }

  /// The frequency of the tone in Hz. It is low, so that the tone is hard to hear. Subwoofers that wake up on a signal
  /// look for one below 200 Hz (owner's manual of the Yamaha YST-SW215).
  static let hertz = 100
  /// The amplitude of the tone: -60 dBFS, a thousandth of full scale, and at least 44 dB below the speech.
  static let amplitude = 32_767 * 0.001

  /// Returns the samples of the tone or the silence for a range of frames, at a rate in Hz. At frame 0 the tone crosses
  /// zero, so that a sound joins it without a step.
  func samples(_ frames: Range<Int>, rate: Int) -> ArraySlice<Int16> {
    guard isUsed, sound == .tone else { return ArraySlice(repeatElement(0, count: frames.count)) }
    return ArraySlice(
      frames.map { frame in
        Int16((Self.amplitude * sin(2 * .pi * Double(Self.hertz * (frame % rate)) / Double(rate))).rounded())
      })
  }
}
