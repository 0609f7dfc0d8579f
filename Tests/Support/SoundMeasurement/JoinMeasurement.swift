// SPDX-License-Identifier: Apache-2.0

/// The speed at which a clip's samples change. A change that is normal inside a clip is not a click at a join.
public struct ClipMovement: Sendable, Hashable {
  /// The greatest difference between two neighbouring samples inside the clip.
  public var largestStep: Int

  /// The greatest difference between the means of two adjacent windows inside the clip; 0 for a clip shorter than two
  /// windows.
  public var largestMeanJump: Double

  /// Measures a clip.
  ///
  /// - Parameter sampleRate: the rate in Hz; a window has 2 ms.
  public init(of samples: [Int16], sampleRate: Int) {
    let window = JoinMeasurement.window(sampleRate)
    largestStep = zip(samples, samples.dropFirst()).reduce(0) { max($0, abs(Int($1.1) - Int($1.0))) }
    var jump = 0
    if samples.count >= 2 * window {
      var before = samples[..<window].reduce(0) { $0 + Int($1) }
      var after = samples[window..<2 * window].reduce(0) { $0 + Int($1) }
      jump = abs(after - before)
      for middle in window..<samples.count - window {
        before += Int(samples[middle]) - Int(samples[middle - window])
        after += Int(samples[middle + window]) - Int(samples[middle])
        jump = max(jump, abs(after - before))
      }
    }
    largestMeanJump = Double(jump) / Double(window)
  }
}

/// A measurement of whether a join of clips clicks, from the samples alone.
///
/// This type is for tests. It shares nothing with the joining code, so that a fault in that code cannot hide itself.
///
/// A window is 2 ms, rounded to whole samples. The position of a join is the first sample after it. At a join:
/// - *The step* is the greatest difference between two neighbouring samples, of which the later one lies within a
///   window before the position or a window after it.
/// - *The jump* is the difference between the mean of the window that begins at the position and the mean of the window
///   that ends there. It shows a change of the constant part (DC), which is heard as a thump.
///
/// A join clicks when its step is greater than the greatest step inside the clips around it, or when its jump is
/// greater than the greatest jump between two adjacent windows inside them. Beyond the ends of a sound there is
/// silence. A pause has a join at each end. For two clips that overlap by less than two windows, the join is the middle
/// of the overlap.
public struct JoinMeasurement: Sendable, Hashable {
  public var step: Int
  public var meanJump: Double

  /// The greatest step inside the clips around the join.
  public var allowedStep: Int
  public var allowedMeanJump: Double

  public var hasStep: Bool { step > allowedStep }
  public var hasMeanJump: Bool { meanJump > allowedMeanJump }
  public var isClick: Bool { hasStep || hasMeanJump }

  /// Measures a join.
  ///
  /// - Parameters:
  ///   - position: the first sample after the join, anywhere in `samples` or directly after them. The position of a
  ///     mark in whole ms is wrong by at most half a millisecond, and the step is still found.
  ///   - clips: the clips that meet here, before they were joined; one clip where it meets silence.
  public init(of samples: [Int16], at position: Int, sampleRate: Int, between clips: [ClipMovement]) {
    let window = Self.window(sampleRate)
    func sample(_ index: Int) -> Int { samples.indices.contains(index) ? Int(samples[index]) : 0 }
    step = (position - window..<position + window).reduce(0) { max($0, abs(sample($1) - sample($1 - 1))) }
    let before = (position - window..<position).reduce(0) { $0 + sample($1) }
    let after = (position..<position + window).reduce(0) { $0 + sample($1) }
    meanJump = Double(abs(after - before)) / Double(window)
    allowedStep = clips.map(\.largestStep).max() ?? 0
    allowedMeanJump = clips.map(\.largestMeanJump).max() ?? 0
  }

  /// Returns the number of samples in 2 ms, at least one.
  static func window(_ sampleRate: Int) -> Int { max(1, sampleRate / 500) }
}
