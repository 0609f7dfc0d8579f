// SPDX-License-Identifier: Apache-2.0

/// The peaks of a sound as braille dots, mirrored about the centre line. A peak at full scale reaches the edges.
struct Envelope {
  let columns: Int
  let rows: Int

  func lines(_ samples: [Int16]) -> [String] {
    let half = rows * 2
    let heights = peaks(samples).map { peak in
      // Any sound other than silence has at least one dot on each side of the centre line.
      peak == 0 ? 0 : max(1, (peak * half + Int(Int16.max) / 2) / Int(Int16.max))
    }
    return (0..<rows).map { row in
      var line = String.UnicodeScalarView()
      for column in 0..<columns {
        var dots: UInt32 = 0
        for side in 0..<2 {
          for depth in 0..<4 {
            // The distance of the dot from the centre line, in dots. It is 1 for the nearest dot.
            let y = row * 4 + depth
            let distance = y < half ? half - y : y - half + 1
            if distance <= heights[column * 2 + side] { dots |= Self.dots[side][depth] }
          }
        }
        // A cell without dots is U+2800, which is as wide as its neighbours in any font.
        line.append(Unicode.Scalar(0x2800 + dots) ?? " ")
      }
      return String(line)
    }
  }

  /// The bits of the Unicode braille patterns. Dots 1, 2, 3 and 7 are on the left side; dots 4, 5, 6 and 8 are on the
  /// right.
  private static let dots: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]

  /// Returns the peaks, 0 to 32,767. Each column has two parts, and a peak is the largest distance from zero in one
  /// part.
  private func peaks(_ samples: [Int16]) -> [Int] {
    let count = columns * 2
    guard !samples.isEmpty else { return [Int](repeating: 0, count: count) }
    return (0..<count).map { part in
      let start = part * samples.count / count
      let end = max(start + 1, (part + 1) * samples.count / count)
      let peak = samples[start..<end].reduce(0) { max($0, Int($1.magnitude)) }
      return min(peak, Int(Int16.max))
    }
  }
}
