// SPDX-License-Identifier: Apache-2.0

import Waveforms

/// A line with ticks, and the times in seconds below it.
///
/// The line consists of braille dots, like the envelope. Box-drawing characters have an ambiguous width (UAX #11): a
/// terminal configured for Chinese, Japanese or Korean may give them two columns.
struct TimeAxis {
  let columns: Int

  func lines(durationMilliseconds duration: Int) -> [String] {
    var ticks = [Bool](repeating: false, count: columns)
    var labels = ""
    let interval = interval(duration)
    for time in stride(from: 0, through: duration, by: interval) {
      let column = Waveform.column(ofMilliseconds: time, duration: duration, columns: columns)
      ticks[column] = true
      let label = label(time)
      if column + label.count <= columns, labels.isEmpty || column > labels.count {
        labels += String(repeating: " ", count: column - labels.count) + label
      }
    }
    return [ticks.map { $0 ? "⡏" : "⠉" }.joined(), labels]
  }

  /// Returns the shortest interval between ticks, in ms, with which the labels fit. The choices are 0.1, 0.2, 0.5, 1,
  /// 2, 5 s and so on.
  private func interval(_ duration: Int) -> Int {
    let room = label(duration).count + 2
    var decade = 100
    while true {
      for interval in [decade, decade * 2, decade * 5] where interval * columns >= room * duration {
        return interval
      }
      decade *= 10
    }
  }

  private func label(_ milliseconds: Int) -> String {
    "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
  }
}
