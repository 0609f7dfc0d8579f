// SPDX-License-Identifier: Apache-2.0

extension RecordingCutting {
  /// The largest number of extra sounds or missing rows for which a place is suggested. With more, the recording does
  /// not belong to the sheet, and a guess would mislead.
  private static let mostPlaces = 8

  /// Divides a long recording into the rows of a sheet. Each utterance has up to 250 ms of the pauses around it.
  ///
  /// The function does not guess. If the speaker read a word twice, there is one utterance too many, and the speaker
  /// must decide which to remove. Isolated sounds shorter than 50 ms are clicks and not utterances.
  ///
  /// - Parameters:
  ///   - rows: all rows of the sheet, in order.
  ///   - required: the rows that payments need. A recording of only these rows is accepted too.
  ///   - otherSheets: the number of rows of other sheets. The key is the option that selects the sheet. It is
  ///     computed only if the count differs.
  /// - Returns: the utterances with their rows and their times, in order.
  /// - Throws: `PackMakingError`: `silent`; `utteranceCountMismatch`. Its details name the sounds that are probably not
  ///   words, or the range of rows in which a sound is missing, with the times.
  func cut(
    _ recording: Recording, into rows: [SheetRow], orOnly required: [SheetRow],
    otherSheets: @autoclosure () -> [String: Int] = [:]
  ) throws(PackMakingError) -> [(row: SheetRow, recording: Recording, time: String)] {
    let activity = VoiceActivity(HighPassFilter.apply(to: recording.samples))
    let utterances = activity.utterances(minimumPauseMilliseconds: minimumPauseMilliseconds)
    guard !utterances.isEmpty else { throw Self.silent }
    for rows in [rows, required] where rows.count == utterances.count {
      return zip(rows, zip(pieces(of: recording, at: utterances), utterances)).map { row, piece in
        (row, piece.0, Self.time(piece.1))
      }
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
    let others = otherSheets().filter { $0.value == utterances.count }.keys.sorted()
    if !others.isEmpty {
      error.remedy =
        "the sheet that \(others.joined(separator: " or ")) selects has \(utterances.count) rows: give "
        + "\(others.count == 1 ? others[0] : "the option of your sheet"), or --sheet"
      throw error
    }
    let (extra, details) = places(utterances, meant)
    error.details = details
    if !extra.isEmpty {
      // A longer minimum pause would join the sound to a word.
      error.remedy =
        "cut \(extra.map(Self.time).joined(separator: " and ")) out of the recording and import again"
    }
    throw error
  }

  /// Returns the sounds that are probably not words, and one line of text for each of these sounds, or for the place
  /// where a row is missing.
  private func places(_ utterances: [Range<Int>], _ rows: [SheetRow]) -> (extra: [Range<Int>], details: [String]) {
    guard abs(utterances.count - rows.count) <= Self.mostPlaces else { return ([], []) }
    let alignment = UtteranceAlignment(
      durations: utterances.map { Double($0.count) }, texts: rows.map(\.text))
    func name(_ index: Int) -> String { "row \(rows[index].number) (\(rows[index].text))" }
    /// The rows around a place, as words.
    func around(_ next: Int) -> String {
      if next == 0 { return "before \(name(0))" }
      return next < rows.count ? "between \(name(next - 1)) and \(name(next))" : "after \(name(rows.count - 1))"
    }
    let extra = alignment.extraSounds.enumerated().map { count, index in
      "\(Self.time(utterances[index])): probably a cough, a noise or a repeated word, \(around(index - count))"
    }
    let missing = alignment.missingRowRange.map { range in
      let (first, last) = (range.lowerBound, range.upperBound)
      let row = first == last ? name(first) : "one row between \(name(first)) and \(name(last))"
      let start = first > 0 ? utterances[first - 1].upperBound : 0
      let end = last < utterances.count ? Self.time(utterances[last].lowerBound) : "the end of the recording"
      return "\(row): probably not read, or read without a pause; look between \(Self.time(start)) and \(end)"
    }
    return (alignment.extraSounds.map { utterances[$0] }, extra + [missing].compactMap(\.self))
  }
}
