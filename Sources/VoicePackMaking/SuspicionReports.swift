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
      throw PackMakingError(
        .swappedRecordings, "The recordings",
        "seem to include \(PackCheckReport.count(swaps.count, "swapped pair")), so nothing was imported",
        remedy: "listen to both of each pair and rename them, or import them as they are with --accept-swapped",
        details: swaps.map { "\(name($0.clip)): \(problem($0))" })
    }
    warnings += suspicions.map {
      ImportWarning(code: .otherWords, subject: name($0.clip), problem: "\(problem($0)); listen to both")
    }
  }

  private func problem(_ suspicion: RecordingSuspicion) -> String {
    let other = name(suspicion.soundsLike)
    switch suspicion.kind {
    case .swapped: return "sounds like \(other), and the other way round"
    case .otherWords: return "sounds more like \(other)"
    }
  }

  /// The row, with the file if the row has one: `row 2 (one, 002.wav)`.
  private func name(_ clip: Int) -> String {
    let row = RecordingImport.name(rows[clip])
    return names[clip] == row ? row : "row \(rows[clip].number) (\(rows[clip].text), \(names[clip]))"
  }
}

extension PackCheckReport {
  /// Adds the suspicions about a pack's clips: an error for each swapped pair, and a warning for each other.
  ///
  /// - Parameters:
  ///   - suspicions: the result of ``RecordingCheck/suspicions(in:progress:)``.
  ///   - clips: the clips that were compared.
  ///   - acceptingSwaps: whether swapped pairs are only warnings.
  public mutating func add(_ suspicions: [RecordingSuspicion], about clips: RecordedClips, acceptingSwaps: Bool) {
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
              "listen to both, and import them again; if both are right, use --accept-swapped")
          case .otherWords:
            return PackFinding(
              .warning, .otherWords, subject, "sounds more like \(other)",
              "listen to both, and record the wrong one again")
          }
        })
  }

  /// Adds the reason why the recordings were not compared with what they should say.
  public mutating func add(comparisonNote note: String) { comparisonNote = note }
}
