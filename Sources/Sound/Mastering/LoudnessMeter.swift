// SPDX-License-Identifier: Apache-2.0

private import CEBUR128
import Foundation

/// A meter of integrated loudness for mono 16-bit samples, as defined by EBU R 128 and ITU-R BS.1770. It is based on
/// libebur128.
@safe  // The pointer is private, belongs only to this value and is freed once.
struct LoudnessMeter: ~Copyable {
  /// The length in ms of a gating block of BS.1770. The standard defines no integrated loudness for a shorter sound.
  static let blockMilliseconds = 400

  private var state: UnsafeMutablePointer<ebur128_state>?

  init(sampleRate: Int) throws(MasteringError) {
    guard let state = unsafe ebur128_init(1, UInt(sampleRate), Int32(EBUR128_MODE_I.rawValue)) else {
      throw MasteringError(.meterFailed, "libebur128 cannot measure at \(sampleRate) Hz, or memory is insufficient.")
    }
    unsafe self.state = unsafe state
  }

  deinit {
    var state = unsafe state
    unsafe ebur128_destroy(&state)
  }

  mutating func add(_ samples: [Int16]) throws(MasteringError) {
    // unsafe: libebur128 reads `count` frames of one channel. All of them are inside the array, and libebur128 keeps no
    // pointer to it.
    let status = unsafe samples.withUnsafeBufferPointer {
      unsafe ebur128_add_frames_short(state, $0.baseAddress, $0.count)
    }
    try Self.check(status, "adding samples")
  }

  /// Returns the loudness of all samples so far in LUFS. The result is minus infinity when no block of 400 ms passes
  /// the gate of -70 LUFS.
  func integratedLoudness() throws(MasteringError) -> Double {
    var loudness = 0.0
    try Self.check(unsafe ebur128_loudness_global(state, &loudness), "reading the loudness")
    return loudness
  }

  private static func check(_ status: Int32, _ action: String) throws(MasteringError) {
    guard status == Int32(EBUR128_SUCCESS.rawValue) else {
      throw MasteringError(.meterFailed, "libebur128 failed with status \(status) while \(action).")
    }
  }
}

extension LoudnessMeter {
  /// Returns the loudness of a whole sound in hundredths of a LU, even for sounds for which the standard defines no
  /// loudness. For most sounds at 22,050 Hz, `MeterReading` gives the same result in less time.
  ///
  /// A sound shorter than one gating block is repeated until it fills three blocks. For 30 single words of one voice,
  /// 220 to 395 ms long, the results then varied by 1.0 LU. When the words were padded with zeros instead, the results
  /// varied by 1.3 LU. The shortest word then measured 2.6 LU too low, so short names would become too loud.
  ///
  /// A sound below the gate of -70 LUFS is amplified by a power of two for the measurement, which keeps its samples
  /// exact. The amplification is then subtracted from the result.
  ///
  /// - Returns: `nil` when every sample is zero.
  static func hundredths(of samples: [Int16], sampleRate: Int) throws(MasteringError) -> Int? {
    if sampleRate == Mastering.sampleRate, let reading = MeterReading.hundredths(of: samples) { return reading }
    let loudness = try self.loudness(of: samples, sampleRate: sampleRate)
    if loudness.isFinite { return Decibels.hundredths(loudness) }
    let peak = samples.reduce(0) { max($0, $1.magnitude) }
    guard peak > 0, peak < 16_384 else { return nil }
    let shift = peak.leadingZeroBitCount - 1
    let louder = try self.loudness(of: samples.map { $0 << Int16(shift) }, sampleRate: sampleRate)
    return louder.isFinite ? Decibels.hundredths(louder - 20 * log10(2) * Double(shift)) : nil
  }

  /// Returns libebur128's result in LUFS. A sound shorter than one gating block is repeated.
  static func loudness(of samples: [Int16], sampleRate: Int) throws(MasteringError) -> Double {
    guard !samples.isEmpty else { return -.infinity }
    var meter = try LoudnessMeter(sampleRate: sampleRate)
    let block = (sampleRate * blockMilliseconds + 999) / 1000
    let repeats = samples.count >= block ? 1 : (3 * block + samples.count - 1) / samples.count
    for _ in 0..<repeats { try meter.add(samples) }
    return try meter.integratedLoudness()
  }
}
