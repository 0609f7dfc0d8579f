// SPDX-License-Identifier: Apache-2.0

extension RecordingCutting {
  /// The largest number of extra sounds or missing rows for which a place is suggested. With more, the recording does
  /// not belong to the sheet, and a guess would mislead.
  private static let mostPlaces = 8

  /// Divides a long recording into the rows of a sheet.
  ///
  /// - Parameters:
  ///   - rows: all rows of the sheet, in order.
  ///   - required: the rows that payments need. A recording of only these rows is accepted too.
  /// - Returns: the utterances with their rows, in order.
  /// - Throws: `PackMakingError`: `silent`; `utteranceCountMismatch`. Its details name the sounds that are probably no
  ///   words, or the rows that are probably missing, with their times and the words around them.
  func cut(
    _ recording: Recording, into rows: [SheetRow], orOnly required: [SheetRow]
  ) throws(PackMakingError) -> [(row: SheetRow, recording: Recording)] {
    let activity = VoiceActivity(HighPassFilter.apply(to: recording.samples))
    let utterances = activity.utterances(minimumPauseMilliseconds: minimumPauseMilliseconds)
    guard !utterances.isEmpty else { throw Self.silent }
    for rows in [rows, required] where rows.count == utterances.count {
      return Array(zip(rows, pieces(of: recording, at: utterances)))
    }
    // The set of rows that the speaker probably meant is the one with the closer count.
    let meant =
      !required.isEmpty && abs(required.count - utterances.count) < abs(rows.count - utterances.count)
      ? required : rows
    var error = mismatch(activity, utterances, wanted: meant.count)
    if !required.isEmpty, required.count < rows.count {
      error.problem =
        "was split into \(PackCheckReport.count(utterances.count, "piece")) at pauses of "
        + "\(minimumPauseMilliseconds) ms, but the sheet has \(rows.count) rows, of which \(required.count) are required"
    }
    error.details = places(utterances, meant)
    throw error
  }

  private func places(_ utterances: [Range<Int>], _ rows: [SheetRow]) -> [String] {
    guard abs(utterances.count - rows.count) <= Self.mostPlaces else { return [] }
    let alignment = UtteranceAlignment(
      durations: utterances.map { Double($0.count) }, texts: rows.map(\.text))
    func name(_ index: Int) -> String { "row \(rows[index].number) (\(rows[index].text))" }
    /// The rows around a place, as words.
    func around(_ next: Int) -> String {
      if next == 0 { return "before \(name(0))" }
      return next < rows.count ? "between \(name(next - 1)) and \(name(next))" : "after \(name(rows.count - 1))"
    }
    let extra = alignment.extraSounds.enumerated().map { count, index in
      "\(Self.time(utterances[index].lowerBound)) to \(Self.time(utterances[index].upperBound)): probably a cough, a "
        + "noise or a repeated word, \(around(index - count))"
    }
    let missing = alignment.missingRows.map { row, next in
      let place =
        next < utterances.count ? "before \(Self.time(utterances[next].lowerBound))" : "at the end of the recording"
      return "\(name(row)): probably not read, or read without a pause; look \(place)"
    }
    return extra + missing
  }
}
