// SPDX-License-Identifier: Apache-2.0

extension ImportedRecordings {
  /// Adds the suspicions about the recordings: a warning for each of them.
  ///
  /// A pack with swapped recordings says wrong amounts. Swapped pairs are therefore an error, unless a person has
  /// listened to them.
  ///
  /// - Parameters:
  ///   - suspicions: the result of ``RecordingCheck/suspicions(in:progress:)`` for ``clips``.
  ///   - acceptingSwaps: whether swapped pairs become warnings.
  /// - Throws: `PackMakingError`: `swappedRecordings` with every pair in `details`.
  public mutating func add(_ suspicions: [RecordingSuspicion], acceptingSwaps: Bool) throws(PackMakingError) {
    let swaps = suspicions.filter { $0.kind == .swapped }
    if !swaps.isEmpty, !acceptingSwaps {
      guard !suspicions.areWidespread else { throw shifted(suspicions) }
      throw PackMakingError(
        .swappedRecordings, "The recordings",
        "seem to include \(PackCheckReport.count(swaps.count, "swapped pair")), so nothing was imported",
        remedy: times.isEmpty
          ? "listen to both recordings of each pair, and rename them or import them unchanged with --accept-swapped"
          : "at these times, listen to both recordings of each pair; then record the pairs again in the order of the "
            + "sheet, or import the recordings unchanged with --accept-swapped",
        details: swaps.map { "\(name($0.clip)): \(problem($0))" })
    }
    warnings += suspicions.map {
      ImportWarning(code: .otherWords, subject: name($0.clip), problem: "\(problem($0)); listen to both recordings")
    }
  }

  /// The error for recordings of which many pairs seem to be swapped. Their order or their language is wrong, and a
  /// list of pairs would mislead.
  private func shifted(_ suspicions: [RecordingSuspicion]) -> PackMakingError {
    var problem = "seem to be shifted against the rows, or to be in another language, so nothing was imported"
    var remedy = "check that the recordings follow the sheet, and that --locale is their language"
    if let first = suspicions.firstShifted {
      problem = "seem to be shifted against the rows from about \(name(first)) on, so nothing was imported"
      remedy = "look for a row left out or read twice just before this row, or for recordings in another language"
    }
    return PackMakingError(.swappedRecordings, "The recordings", problem, remedy: remedy)
  }

  private func problem(_ suspicion: RecordingSuspicion) -> String {
    let other = name(suspicion.soundsLike)
    switch suspicion.kind {
    case .swapped: return "sounds like \(other), and the other way round"
    case .otherWords: return "sounds more like \(other)"
    }
  }

  /// The row, with its file or its time: `row 2 (one, 002.wav)`, `row 2 (one, 0:03.10–0:03.52)`.
  func name(_ clip: Int) -> String {
    let row = RecordingImport.name(rows[clip])
    if times.indices.contains(clip) { return "row \(rows[clip].number) (\(rows[clip].text), \(times[clip]))" }
    return names[clip] == row ? row : "row \(rows[clip].number) (\(rows[clip].text), \(names[clip]))"
  }
}

extension PackCheckReport {
  /// Adds the suspicions about a pack's clips: an error for each swapped pair, and a warning for each other suspicion.
  ///
  /// - Parameters:
  ///   - suspicions: the result of ``RecordingCheck/suspicions(in:progress:)``.
  ///   - clips: the clips that were compared.
  ///   - acceptingSwaps: whether swapped pairs are only warnings.
  public mutating func add(_ suspicions: [RecordingSuspicion], about clips: RecordedClips, acceptingSwaps: Bool) {
    guard acceptingSwaps || !suspicions.hasManyPairs else {
      findings = PackFinding.inOrder(
        findings + [
          PackFinding(
            .error, .swappedClips, pack,
            "the recordings of many words seem to be shifted against the words, or to be in another language",
            "listen to the pack, and import the recordings again in the order of the sheet")
        ])
      return
    }
    func name(_ clip: Int) -> String {
      "\(clips.clips[clip].tokens.joined(separator: " ")) (\(clips.files[clip]))"
    }
    findings = PackFinding.inOrder(
      findings
        + suspicions.map { suspicion in
          let (subject, other) = (name(suspicion.clip), name(suspicion.soundsLike))
          switch suspicion.kind {
          case .swapped:
            return PackFinding(
              acceptingSwaps ? .warning : .error, .swappedClips, subject,
              "sounds like \(other), and the other way round",
              "listen to both clips, and import them again; if both are right, use --accept-swapped")
          case .otherWords:
            return PackFinding(
              .warning, .otherWords, subject, "sounds more like \(other)",
              "listen to both clips, and record the wrong one again")
          }
        })
  }

  /// Adds the reason why the recordings were not compared with what they should say.
  public mutating func add(comparisonNote note: String) { comparisonNote = note }
}
