// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// Plays no sound, but takes as long as a device would.
public final class NullOutput: SoundOutput {
  public let name = "null"

  private let clock: any OutputClock

  public init(clock: any OutputClock = SystemClock()) {
    self.clock = clock
  }

  public func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
    PacedPlaying(clock: clock, control: control).run(sound.length)
  }

  public func open(rate: Int) throws(OutputError) {}

  public func release() {}
}

extension Waveform {
  /// The length to the nanosecond, rounded up.
  var length: Duration {
    let (seconds, rest) = samples.count.quotientAndRemainder(dividingBy: sampleRate)
    return .seconds(seconds) + .nanoseconds((rest * 1_000_000_000 + sampleRate - 1) / sampleRate)
  }
}
