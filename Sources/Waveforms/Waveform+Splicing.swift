// SPDX-License-Identifier: Apache-2.0

extension Waveform {
  /// Joins recorded clips into one waveform without a click, whatever they hold.
  ///
  ///     var builder = Waveform.SpliceBuilder(sampleRate: 22_050)
  ///     builder.append(received, text: "Received", pauseMilliseconds: 60)
  ///     builder.append(twelve, text: "twelve", pauseMilliseconds: 0)
  ///     let waveform = builder.finish()
  ///
  /// Every clip fades in and out over 3 ms, or half of itself if it is shorter than 6 ms. Without a pause the fade out
  /// of one overlaps the fade in of the next, at equal power; where that is beyond full scale it stays there. All of it
  /// is integer arithmetic, so that equal clips make equal waveforms on every machine.
  ///
  /// Samples are borrowed while they are appended, and copied once.
  public struct SpliceBuilder: ~Copyable {
    /// The longest pause in ms. A longer one is this long, and one below zero is none.
    public static let longestPauseMilliseconds = 60_000

    private var samples: [Int16] = []
    private var marks: [Mark] = []
    private let sampleRate: Int
    private let fade: CrossFade

    /// In samples; what stands at both ends.
    private let edge: Int

    /// In samples; what stands before the next clip.
    private var pause: Int

    /// How many samples of the last clip are still to be faded out, once it is known into what.
    private var tail = 0

    /// - Parameters:
    ///   - sampleRate: of all clips, in Hz.
    ///   - edgeMilliseconds: the silence before the first clip and after the last, 0 to 60,000 ms.
    ///   - clipCount: how many clips there will be; with the next two, memory is taken once.
    ///   - sampleCount: how many samples they have together.
    ///   - pausesMilliseconds: the sum of the pauses between them.
    /// - Precondition: `sampleRate` is above zero.
    public init(
      sampleRate: Int, edgeMilliseconds: Int = 30, clipCount: Int = 0, sampleCount: Int = 0, pausesMilliseconds: Int = 0
    ) {
      precondition(sampleRate > 0, "A waveform has a sample rate above 0 Hz.")
      self.sampleRate = sampleRate
      fade = .of(sampleRate: sampleRate)
      edge = Self.samples(edgeMilliseconds, at: sampleRate)
      pause = edge
      // A pause rounds up by at most one sample.
      samples.reserveCapacity(2 * edge + sampleCount + pausesMilliseconds * sampleRate / 1000 + clipCount)
      marks.reserveCapacity(clipCount)
    }

    /// Adds a clip and its mark. One without samples makes no sound: its mark has no length, and its pause is added to
    /// the pause before it.
    ///
    /// - Parameter pauseMilliseconds: the silence after it, 0 to 60,000 ms, unless it is the last.
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
      // The samples are copied before the span ends.
      unsafe clip.extracting(overlap...).withUnsafeBufferPointer { unsafe samples.append(contentsOf: $0) }
      for index in overlap..<head {
        samples[start + index] = fade.faded(samples[start + index], index, of: head, to: edge)
      }

      tail = min(fade.length, clip.count / 2)
      pause = following
      mark(text, start..<samples.count)
    }

    /// The whole, with a mark for each clip: where its voice is heard, its share of an overlap included.
    public consuming func finish() -> Waveform {
      fadeOut(to: .silence)
      // Without a sound there are no two ends to keep apart.
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
