// SPDX-License-Identifier: Apache-2.0

extension Waveform {
  /// Joins recorded clips of any content into one waveform without clicks.
  ///
  ///     var builder = Waveform.SpliceBuilder(sampleRate: 22_050)
  ///     builder.append(received, text: "Received", pauseMilliseconds: 60)
  ///     builder.append(twelve, text: "twelve", pauseMilliseconds: 0)
  ///     let waveform = builder.finish()
  ///
  /// Every clip fades in and out over 3 ms. A clip shorter than 6 ms fades over half its length. If there is no pause
  /// between two clips, the fade-out of the first overlaps the fade-in of the second at equal power. If the sum of two
  /// samples is beyond full scale, it is clipped. All calculations use integers, so that equal clips give equal
  /// waveforms on every machine.
  ///
  /// A clip's samples are borrowed while the clip is appended, and copied once.
  public struct SpliceBuilder: ~Copyable {
    /// The longest pause in ms. A longer pause is shortened to this length, and a negative pause becomes zero.
    public static let longestPauseMilliseconds = 60_000

    private var samples: [Int16] = []
    private var marks: [Mark] = []
    private let sampleRate: Int
    private let fade: CrossFade

    /// The silence at the start and at the end of the waveform, in samples.
    private let edge: Int

    /// The silence before the next clip, in samples.
    private var pause: Int

    /// The number of samples at the end of the last clip that are not faded yet. How they fade depends on the next
    /// clip.
    private var tail = 0

    /// Creates a builder.
    ///
    /// - Parameters:
    ///   - sampleRate: the rate of all clips in Hz.
    ///   - edgeMilliseconds: the silence before the first clip and after the last, 0 to 60,000 ms.
    ///   - clipCount: the expected number of clips. If this parameter and the next two are correct, memory is allocated
    ///     only once.
    ///   - sampleCount: the expected total number of samples.
    ///   - pausesMilliseconds: the expected sum of the pauses.
    /// - Precondition: `sampleRate` is above zero.
    public init(
      sampleRate: Int, edgeMilliseconds: Int = 30, clipCount: Int = 0, sampleCount: Int = 0, pausesMilliseconds: Int = 0
    ) {
      // Not from outside: a pack whose manifest states another rate than 8,000 to 48,000 Hz is refused.
      precondition(sampleRate > 0, "The sample rate of a waveform must be above 0 Hz.")
      self.sampleRate = sampleRate
      fade = .of(sampleRate: sampleRate)
      edge = Self.samples(edgeMilliseconds, at: sampleRate)
      pause = edge
      // For each pause the rounding adds at most one sample.
      samples.reserveCapacity(2 * edge + sampleCount + pausesMilliseconds * sampleRate / 1000 + clipCount)
      marks.reserveCapacity(clipCount)
    }

    /// Adds a clip and its mark. A clip without samples makes no sound: its mark has no length, and its pause extends
    /// the pause before it.
    ///
    /// - Parameter pauseMilliseconds: the silence after the clip, 0 to 60,000 ms. It is ignored after the last clip.
    public mutating func append(_ clip: Span<Int16>, text: String, pauseMilliseconds: Int) {
      let following = Self.samples(pauseMilliseconds, at: sampleRate)
      guard !clip.isEmpty else {
        mark(text, samples.count..<samples.count)
        pause += following
        return
      }
      let head = min(fade.length, (clip.count + 1) / 2)
      let overlap = pause == 0 ? min(tail, head) : 0
      let edge: CrossFade.Edge = overlap > 0 ? .clip : .silence
      fadeOut(to: edge)
      samples.append(contentsOf: repeatElement(0, count: pause))

      let start = samples.count - overlap
      for index in 0..<overlap {
        let entering = fade.faded(clip[index], index, of: head, to: edge)
        samples[start + index] = samples[start + index].addingSaturated(entering)
      }
      // unsafe: the samples are copied before the span ends.
      unsafe clip.extracting(overlap...).withUnsafeBufferPointer { unsafe samples.append(contentsOf: $0) }
      for index in overlap..<head {
        samples[start + index] = fade.faded(samples[start + index], index, of: head, to: edge)
      }

      tail = min(fade.length, clip.count / 2)
      pause = following
      mark(text, start..<samples.count)
    }

    /// Returns the waveform with a mark for each clip. A mark covers the audible part of its clip, including the part
    /// that overlaps another clip.
    public consuming func finish() -> Waveform {
      fadeOut(to: .silence)
      // If there is no sound, the silence at the start and the silence at the end adjoin.
      samples.append(contentsOf: repeatElement(0, count: samples.isEmpty ? 2 * edge : edge))
      return Waveform(samples: samples, sampleRate: sampleRate, marks: marks)
    }

    private mutating func fadeOut(to edge: CrossFade.Edge) {
      let last = samples.count - 1
      for index in 0..<tail {
        samples[last - index] = fade.faded(samples[last - index], index, of: tail, to: edge)
      }
      tail = 0
    }

    private mutating func mark(_ text: String, _ range: Range<Int>) {
      marks.append(
        Mark(
          text: text, startMilliseconds: (range.lowerBound * 1000 + sampleRate / 2) / sampleRate,
          endMilliseconds: (range.upperBound * 1000 + sampleRate / 2) / sampleRate))
    }

    private static func samples(_ milliseconds: Int, at sampleRate: Int) -> Int {
      (min(max(milliseconds, 0), longestPauseMilliseconds) * sampleRate + 500) / 1000
    }
  }
}

extension Int16 {
  fileprivate func addingSaturated(_ other: Int16) -> Int16 { Int16(clamping: Int32(self) + Int32(other)) }
}
