// SPDX-License-Identifier: Apache-2.0

private import CSoxr

/// Converts mono sound from one sample rate to another with libsoxr's high-quality recipe: linear phase, 20 bits, and
/// flat up to 91 % of the lower of the two bandwidths. Everything above the target's bandwidth is attenuated by 120 dB.
///
/// It runs in one thread. The same samples give the same result on the same machine. (libsoxr selects its code by the
/// processor, so the last bit may differ on another machine.)
@safe  // The handle is private, belongs only to this value and is freed once.
public struct Resampler: ~Copyable {
  /// The supported source and target rates, in Hz.
  public static let supportedRates = 1_000...768_000

  private var handle: OpaquePointer?
  private let ratio: Double

  /// Creates a resampler.
  ///
  /// - Parameters:
  ///   - source: the rate of the given samples in Hz.
  ///   - target: the wanted rate in Hz. If it equals the source rate, nothing is converted.
  /// - Throws: `ResamplingError`.
  public init(from source: Int, to target: Int) throws(ResamplingError) {
    guard Self.supportedRates.contains(source), Self.supportedRates.contains(target) else {
      let (low, high) = (Self.supportedRates.lowerBound, Self.supportedRates.upperBound)
      throw ResamplingError(
        .unsupportedRate, "from \(source) Hz to \(target) Hz; use rates of \(low) to \(high) Hz.")
    }
    let made = source == target ? nil : unsafe try Self.makeHandle(from: source, to: target)
    unsafe handle = unsafe made
    ratio = Double(target) / Double(source)
  }

  private static func makeHandle(from source: Int, to target: Int) throws(ResamplingError) -> OpaquePointer? {
    var failure: soxr_error_t?
    var quality = unsafe soxr_quality_spec(UInt(SOXR_20_BITQ), 0)
    var runtime = unsafe soxr_runtime_spec(1)
    // unsafe: the samples are floats of one channel, libsoxr's default, and libsoxr copies the specifications.
    let handle = unsafe soxr_create(Double(source), Double(target), 1, &failure, nil, &quality, &runtime)
    try unsafe check(failure, "preparing to convert from \(source) Hz to \(target) Hz")
    return unsafe handle
  }

  deinit {
    if let handle = unsafe handle { unsafe soxr_delete(handle) }
  }

  /// Converts samples. This method returns the output samples that are complete; the filter keeps the others until
  /// ``finish()``.
  ///
  /// - Throws: `ResamplingError`.
  public mutating func next(_ samples: [Float]) throws(ResamplingError) -> [Float] {
    guard unsafe handle != nil else { return samples }
    guard !samples.isEmpty else { return [] }
    return try process(samples)
  }

  /// Returns the remaining samples.
  ///
  /// - Throws: `ResamplingError`.
  public mutating func finish() throws(ResamplingError) -> [Float] {
    guard unsafe handle != nil else { return [] }
    var rest: [Float] = []
    while true {
      let piece = try process(nil)
      if piece.isEmpty { return rest }
      rest += piece
    }
  }

  /// Converts a whole sound of 16-bit samples. The results are rounded and limited to full scale. If the rates are
  /// equal, the samples are unchanged.
  ///
  /// - Throws: `ResamplingError`.
  public static func convert(
    _ samples: [Int16], from source: Int, to target: Int
  ) throws(ResamplingError) -> [Int16] {
    guard source != target else { return samples }
    var resampler = try Resampler(from: source, to: target)
    var converted: [Int16] = []
    converted.reserveCapacity(Int(Double(samples.count) * resampler.ratio) + 1)
    // Converting in pieces avoids a copy of a whole long sound as floats.
    for start in stride(from: 0, to: samples.count, by: 65_536) {
      let piece = samples[start..<min(start + 65_536, samples.count)].map(Float.init)
      converted += try resampler.next(piece).map(Self.sample)
    }
    converted += try resampler.finish().map(Self.sample)
    return converted
  }

  private static func sample(_ value: Float) -> Int16 {
    Int16(max(-32_768, min(32_767, value.rounded())))
  }

  /// Converts samples.
  ///
  /// - Parameter samples: the samples; `nil` at the end of the input.
  private mutating func process(_ samples: [Float]?) throws(ResamplingError) -> [Float] {
    let capacity = Int(Double(samples?.count ?? 0) * ratio) + 4096
    var failure: soxr_error_t?
    var output: [Float] = []
    var used = 0
    repeat {
      var (taken, made) = (0, 0)
      // unsafe: libsoxr reads at most the remaining samples of the given array, and writes at most `capacity` samples
      // to the new array.
      let converted = unsafe [Float](unsafeUninitializedCapacity: capacity) { target, count in
        if let samples {
          unsafe samples.withUnsafeBufferPointer { source in
            let rest = unsafe UnsafeBufferPointer(rebasing: source[used...])
            unsafe failure = unsafe soxr_process(
              handle, rest.baseAddress, rest.count, &taken, target.baseAddress, capacity, &made)
          }
        } else {
          unsafe failure = unsafe soxr_process(handle, nil, 0, nil, target.baseAddress, capacity, &made)
        }
        count = made
      }
      try unsafe Self.check(failure, "converting to another sample rate")
      output += converted
      used += taken
    } while used < samples?.count ?? 0
    return output
  }

  private static func check(_ failure: soxr_error_t?, _ action: String) throws(ResamplingError) {
    guard let failure = unsafe failure else { return }
    let text = unsafe String(cString: failure)  // A constant of the library.
    throw ResamplingError(.conversionFailed, "libsoxr failed while \(action): “\(text)”; free memory, and try again.")
  }
}
