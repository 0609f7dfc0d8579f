// SPDX-License-Identifier: Apache-2.0

extension RecordingImport {
  /// The largest number of missing rows that the warning names by their texts.
  private static let mostNames = 5

  /// Returns one warning for all rows without a recording; `nil` if there are no such rows. Many rows are named by
  /// ranges of their numbers.
  ///
  /// - Parameter missing: the indices of the rows, in ascending order.
  static func missing(_ missing: [Int], of rows: [SheetRow]) -> ImportWarning? {
    guard !missing.isEmpty else { return nil }
    if missing.count == 1 {
      return ImportWarning(code: .missingRow, subject: name(rows[missing[0]]), problem: "has no recording")
    }
    var ranges: [ClosedRange<Int>] = []
    for index in missing {
      if let last = ranges.last, last.upperBound + 1 == index {
        ranges[ranges.count - 1] = last.lowerBound...index
      } else {
        ranges.append(index...index)
      }
    }
    let names =
      missing.count <= mostNames
      ? missing.map { name(rows[$0]) }
      : ranges.map { range in
        let (first, last) = (rows[range.lowerBound].number, rows[range.upperBound].number)
        return first == last ? "row \(first)" : "rows \(first) to \(last)"
      }
    return ImportWarning(
      code: .missingRow, subject: "\(missing.count) of \(rows.count) rows have no recording",
      problem: names.joined(separator: ", "))
  }

  /// Returns a warning for each group of rows with different words whose recordings are the same. The same words may
  /// have the same recording.
  static func sameRecordings(in imported: ImportedRecordings) -> [ImportWarning] {
    Dictionary(grouping: imported.clips.indices) { imported.clips[$0].waveform }.values
      .filter { group in
        Set(group.map { imported.clips[$0].text.lowercased().filter { $0.isLetter || $0.isNumber } }).count > 1
      }
      .sorted { $0[0] < $1[0] }
      .map { group in
        ImportWarning(
          code: .sameRecording, subject: group.map { imported.name($0) }.joined(separator: " and "),
          problem: "have the same recording; listen to it, and record the other words again")
      }
  }
}
