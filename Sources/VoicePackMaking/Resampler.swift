// SPDX-License-Identifier: Apache-2.0

private import CSoxr

/// Converts mono sound from one sample rate to another by libsoxr's recipe for high quality: linear phase, 20 bits,
/// flat up to 91 % of the lower of the two bandwidths, everything beyond the new one 120 dB down.
///
/// Runs in one thread; the same samples give the same samples on the same machine. (libsoxr chooses its code by the
/// processor, so another machine's last bit may differ: clips are converted once, when a pack is made.)
@safe  // the handle is private, belongs to this value alone and is freed once
struct Resampler: ~Copyable {
  private var handle: OpaquePointer?
  private let ratio: Double

  /// - Parameter source: 4,000 to 192,000 Hz; the target's own rate converts nothing.
  init(from source: Int, to target: Int) throws(PackMakingError) {
    ratio = Double(target) / Double(source)
    unsafe handle = try unsafe Self.handle(source, target)
  }

  private static func handle(_ source: Int, _ target: Int) throws(PackMakingError) -> OpaquePointer? {
    guard (4_000...192_000).contains(source) else {
      throw PackMakingError(
        .recordingUnreadable, "The recording", "has a sample rate of \(source) Hz",
        remedy: "record at 4,000 to 192,000 Hz, best at 44,100 or 48,000 Hz")
    }
    guard source != target else { return nil }
    var failure: soxr_error_t?
    var quality = unsafe soxr_quality_spec(UInt(SOXR_20_BITQ), 0)
    var runtime = unsafe soxr_runtime_spec(1)
    // Samples are floats of one channel, libsoxr's default; it copies the specifications.
    let handle = unsafe soxr_create(Double(source), Double(target), 1, &failure, nil, &quality, &runtime)
    try unsafe check(failure, "preparing to convert from \(source) Hz")
    return unsafe handle
  }

  deinit {
    if let handle = unsafe handle { unsafe soxr_delete(handle) }
  }

  /// The converted samples as far as they are known; the filter keeps some back until ``finish()``.
  mutating func next(_ samples: [Float]) throws(PackMakingError) -> [Float] {
    guard unsafe handle != nil else { return samples }
    guard !samples.isEmpty else { return [] }
    return try process(samples)
  }

  /// The rest.
  mutating func finish() throws(PackMakingError) -> [Float] {
    guard unsafe handle != nil else { return [] }
    var rest: [Float] = []
    while true {
      let piece = try process(nil)
      if piece.isEmpty { return rest }
      rest += piece
    }
  }

  /// - Parameter samples: nil at the end of the input.
  private mutating func process(_ samples: [Float]?) throws(PackMakingError) -> [Float] {
    let capacity = Int(Double(samples?.count ?? 0) * ratio) + 4096
    var failure: soxr_error_t?
    var output: [Float] = []
    var used = 0
    repeat {
      var (taken, made) = (0, 0)
      // libsoxr reads at most the samples left in the one array and writes at most `capacity` to the other.
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

  private static func check(_ failure: soxr_error_t?, _ action: String) throws(PackMakingError) {
    guard let failure = unsafe failure else { return }
    let text = unsafe String(cString: failure)  // a constant of the library
    throw PackMakingError(
      .conversionFailed, "libsoxr, \(action)", "says “\(text)”", remedy: "free memory, and try again")
  }
}
