// SPDX-License-Identifier: Apache-2.0

/// A constant offset from zero in a whole recording.
enum ConstantOffset {
  /// Returns the offset in 16-bit steps; zero when there is no offset.
  ///
  /// The mean of speech is not always zero, because its waves are asymmetric: whole utterances of the engine have means
  /// of up to 115 steps, although their silence is at zero. Such a mean is not a constant offset, and subtracting it
  /// would shift the silence. The offset is therefore only the part that two means have in common: the mean of the
  /// whole sound and the mean of its quietest 32 ms. It is removed because each 1 % of full scale takes 0.09 dB of
  /// headroom and causes a step at the ends.
  static func find(in samples: [Int16]) -> Int {
    let length = 88  // In blocks of eight: 704 samples, or 32 ms at 22,050 Hz.
    guard samples.count >= length * 8 else { return 0 }
    var total = 0
    var quietest = (range: Int.max, sum: 0)
    unsafe samples.withUnsafeBytes { bytes in
      for start in stride(from: 0, through: samples.count - length * 8, by: length * 8) {
        var (low, high, sum) = (SIMD8<Int16>(repeating: .max), SIMD8<Int16>(repeating: .min), SIMD8<Int32>.zero)
        for block in 0..<length {
          // unsafe: the loop ends before a stretch that would not be complete.
          let eight = unsafe bytes.loadUnaligned(fromByteOffset: (start + block * 8) * 2, as: SIMD8<Int16>.self)
          low.replace(with: eight, where: eight .< low)
          high.replace(with: eight, where: eight .> high)
          sum &+= SIMD8<Int32>(truncatingIfNeeded: eight)
        }
        let stretch = Int(sum.wrappedSum())
        total += stretch
        let range = Int(high.max()) - Int(low.min())
        if range < quietest.range { quietest = (range, stretch) }
      }
    }
    let count = samples.count / (length * 8) * length * 8
    let whole = rounded(total, count)
    let quiet = rounded(quietest.sum, length * 8)
    guard whole.signum() == quiet.signum() else { return 0 }
    return whole.magnitude < quiet.magnitude ? whole : quiet
  }

  private static func rounded(_ sum: Int, _ count: Int) -> Int {
    (sum.magnitude > Int.max / 2 ? 0 : sum + sum.signum() * count / 2) / count
  }
}
