// SPDX-License-Identifier: Apache-2.0

private import CEBUR128
import Foundation

/// Integrated loudness as EBU R 128 and ITU-R BS.1770 define it, by libebur128, of mono 16-bit samples.
@safe  // the pointer is private, belongs to this value alone and is freed once
struct LoudnessMeter: ~Copyable {
  /// One gating block of BS.1770, in ms: a shorter sound has no integrated loudness of its own.
  static let blockMilliseconds = 400

  private var state: UnsafeMutablePointer<ebur128_state>?

  init(sampleRate: Int) throws(MasteringError) {
    guard let state = unsafe ebur128_init(1, UInt(sampleRate), Int32(EBUR128_MODE_I.rawValue)) else {
      throw MasteringError(.meterFailed, "libebur128 cannot measure at \(sampleRate) Hz, or memory is short.")
    }
    unsafe self.state = unsafe state
  }

  deinit {
    var state = unsafe state
    unsafe ebur128_destroy(&state)
  }

  mutating func add(_ samples: [Int16]) throws(MasteringError) {
    // libebur128 reads `count` frames of one channel, all inside the array, and keeps no pointer to them.
    let status = unsafe samples.withUnsafeBufferPointer {
      unsafe ebur128_add_frames_short(state, $0.baseAddress, $0.count)
    }
    try Self.check(status, "adding samples")
  }

  /// The loudness in LUFS of all samples so far; minus infinity when no block of 400 ms passes the gate of -70 LUFS.
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
  /// The loudness of a whole sound in hundredths of a LU, also where the standard gives none.
  ///
  /// A sound shorter than one gating block is repeated until it fills three: of 30 single words of one voice, 220 to
  /// 395 ms long, the readings then spread by 1.0 LU, but by 1.3 LU when they are filled up with zeros, which also
  /// reads the shortest 2.6 LU too low and so would make short names too loud. A sound that the gate of -70 LUFS
  /// drops is measured louder, by a power of two that keeps its samples exact, and the difference is taken off.
  /// - Returns: nil when every sample is zero.
  static func hundredths(of samples: [Int16], sampleRate: Int) throws(MasteringError) -> Int? {
    let loudness = try self.loudness(of: samples, sampleRate: sampleRate)
    if loudness.isFinite { return Decibels.hundredths(loudness) }
    let peak = samples.reduce(0) { max($0, $1.magnitude) }
    guard peak > 0, peak < 16_384 else { return nil }
    let shift = peak.leadingZeroBitCount - 1
    let louder = try self.loudness(of: samples.map { $0 << Int16(shift) }, sampleRate: sampleRate)
    return louder.isFinite ? Decibels.hundredths(louder - 20 * log10(2) * Double(shift)) : nil
  }

  private static func loudness(of samples: [Int16], sampleRate: Int) throws(MasteringError) -> Double {
    guard !samples.isEmpty else { return -.infinity }
    var meter = try LoudnessMeter(sampleRate: sampleRate)
    let block = (sampleRate * blockMilliseconds + 999) / 1000
    let repeats = samples.count >= block ? 1 : (3 * block + samples.count - 1) / samples.count
    for _ in 0..<repeats { try meter.add(samples) }
    return try meter.integratedLoudness()
  }
}
