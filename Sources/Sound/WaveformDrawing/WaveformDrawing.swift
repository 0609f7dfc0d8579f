// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// A waveform as lines of text: its envelope, the words at the times when they are heard, and a time axis.
public struct WaveformDrawing: Sendable, Hashable {
  /// The style of a drawing.
  public enum Style: String, Sendable, Hashable, CaseIterable {
    /// A drawing for a terminal that shows UTF-8. The envelope consists of braille dots, two by four in each character
    /// cell.
    case braille
    /// The words for a file or another program, without a drawing. There is one line for each mark, such as
    /// `   0 ms    610 ms  支付宝`.
    case plain
  }

  /// The width of the drawing in columns, 20 to 400.
  public let columns: Int

  /// The number of lines for the envelope, 1 to 50.
  public let rows: Int

  public let style: Style

  /// Creates a drawing.
  ///
  /// - Parameters:
  ///   - columns: the width of the terminal in columns. Values outside 20 to 400 are replaced by the nearest limit.
  ///   - rows: the number of lines for the envelope. Values outside 1 to 50 are replaced by the nearest limit.
  public init(columns: Int, rows: Int = 6, style: Style) {
    self.columns = min(max(columns, 20), 400)
    self.rows = min(max(rows, 1), 50)
    self.style = style
  }

  /// Returns the lines without line breaks. No line is wider than ``columns``.
  ///
  /// Han, kana, Hangul and other wide characters count as two columns, and combining marks count as none. Control
  /// characters and bidirectional overrides are removed from the texts of the marks. Times outside the waveform are
  /// moved to its start or end.
  public func lines(_ waveform: Waveform) -> [String] {
    switch style {
    case .plain:
      table(waveform)
    case .braille:
      Envelope(columns: columns, rows: rows).lines(waveform.samples)
        + WordRows(columns: columns).lines(waveform)
        + TimeAxis(columns: columns).lines(durationMilliseconds: waveform.durationMilliseconds)
    }
  }

  private func table(_ waveform: Waveform) -> [String] {
    let duration = waveform.durationMilliseconds
    let times = waveform.marks.map { mark in
      (start: min(max(mark.startMilliseconds, 0), duration), end: min(max(mark.endMilliseconds, 0), duration))
    }
    let digits = max(4, times.map { String(max($0.start, $0.end)).count }.max() ?? 0)
    func right(_ number: Int) -> String {
      let text = String(number)
      return String(repeating: " ", count: digits - text.count) + text
    }
    return zip(waveform.marks, times).map { mark, time in
      TerminalText("\(right(time.start)) ms   \(right(time.end)) ms  \(mark.text)").cut(to: columns).string
    }
  }
}

extension Waveform {
  /// Returns the column for a time of the waveform.
  static func column(ofMilliseconds time: Int, duration: Int, columns: Int) -> Int {
    guard duration > 0 else { return 0 }
    return min(columns - 1, min(max(time, 0), duration) * columns / duration)
  }
}
