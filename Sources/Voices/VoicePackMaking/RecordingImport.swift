// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The clips that were made from recordings.
public struct ImportedRecordings: Sendable, Hashable {
  /// The clips, in the order of the rows of the recording sheet.
  public var clips: [PackClip]

  /// The row of each clip, in the order of ``clips``.
  public var rows: [SheetRow]

  /// The name of each clip's recording, in the order of ``clips``: the name of a file, or the number and text of the
  /// row of a long recording.
  public var names: [String]

  /// The time of each clip in a long recording, in the order of ``clips``: `0:57.31–0:57.49`. The array is empty for a
  /// folder.
  public var times: [String] = []
  public var warnings: [ImportWarning]
}

/// A note about recordings, for the person who made them. The recordings can still be used.
public struct ImportWarning: Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A file belongs to no row of the recording sheet.
    case extraFile = "extra_file"
    /// A row of the recording sheet has no recording.
    case missingRow = "missing_row"
    /// Recordings have clipped samples. One warning is for all of them.
    case clippedRecording = "clipped_recording"
    /// The voice is less than 30 dB above the noise. One warning is for all such recordings.
    case noisyRecording = "noisy_recording"
    /// Recordings have less than 16,000 samples in a second. One warning is for all of them.
    case lowSampleRate = "low_sample_rate"
    /// Recordings contain a silence of more than 500 ms. One warning is for all of them.
    case silenceInside = "silence_inside"
    /// Rows with different words have the same recording. One warning is for all rows with this recording.
    case sameRecording = "same_recording"
    /// A recording seems to say the words of another row.
    case otherWords = "other_words"
  }

  public var code: Code

  /// The name of a file, or the number and text of a row, that the note is about.
  public var subject: String
  public var problem: String

  public var description: String { "\(subject): \(problem)." }
}

/// Converts recordings into a pack's clips: finds the recording for each row of the recording sheet and prepares it
/// (see ``ClipPreparation``).
///
/// If recordings cannot be used, one error lists all of them in its `details`. Nothing is written to the disk here.
public struct RecordingImport: Sendable {
  /// A function that is called after each recording, with the number of finished recordings, the total, and the name of
  /// the last one.
  public typealias Progress = (_ done: Int, _ total: Int, _ name: String) -> Void

  private let isProgram: Bool

  /// - Parameter isProgram: whether a program made the recordings, so that the advice is for somebody who runs that
  ///   program.
  public init(isProgram: Bool = false) { self.isProgram = isProgram }

  /// Converts a folder of recordings. It has one file for each row of the recording sheet, named after the row's file,
  /// token or text.
  ///
  /// Names are compared without regard to letter case, to whether letters are composed or decomposed, and to spaces and
  /// underscores. The extension does not determine the format. Subfolders and hidden files are ignored.
  ///
  /// - Throws: `PackMakingError`: `recordingUnreadable` for the folder; `noRecordings`; `ambiguousRecording` with every
  ///   such row and file in `details`; `unusableRecordings` with every such file in `details`.
  public func recordings(
    in folder: URL, for rows: [SheetRow], progress: Progress = { _, _, _ in }
  ) throws(PackMakingError) -> ImportedRecordings {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
      throw PackMakingError(
        .recordingUnreadable, folder.lastPathComponent, "is not a readable folder", remedy: "check its name")
    }
    var (found, warnings) = try matched(names.sorted().filter { !$0.hasPrefix(".") }, rows)
    if let missing = Self.missing(rows.indices.filter { found[$0] == nil }, of: rows) { warnings.append(missing) }
    let sources = rows.indices.compactMap { index in
      found[index].map { RecordingSource(file: folder.appending(path: $0), row: rows[index]) }
    }
    var imported = try recordings(sources, progress: progress)
    imported.warnings = warnings + imported.warnings + Self.sameRecordings(in: imported)
    return imported
  }

  /// Converts recordings for which the rows of the recording sheet are known.
  ///
  /// - Throws: `PackMakingError`: `noRecordings`; `unusableRecordings` with every such file in `details`.
  public func recordings(
    _ sources: [RecordingSource], progress: Progress = { _, _, _ in }
  ) throws(PackMakingError) -> ImportedRecordings {
    let inputs = sources.map { source in
      Input(name: source.name, row: source.row) { () throws(PackMakingError) in
        try Recording.read(source.file)
      }
    }
    return try prepare(inputs, progress)
  }

  /// Converts one long recording of all rows of the recording sheet, in the order of the rows.
  ///
  /// - Parameters:
  ///   - required: the rows that payments need, in order. A recording of only these rows is accepted too.
  ///   - otherSheets: the number of rows of other sheets, for the error if the recording belongs to one of
  ///     them. The key is the option that selects the sheet. It is computed only if the count differs.
  /// - Throws: `PackMakingError`: `recordingUnreadable`, `tooLong`, `silent`, `utteranceCountMismatch`,
  ///   `unusableRecordings`.
  public func recordings(
    cutting file: URL, for rows: [SheetRow], orOnly required: [SheetRow] = [],
    otherSheets: @autoclosure () -> [String: Int] = [:], with cutting: RecordingCutting = RecordingCutting(),
    progress: Progress = { _, _, _ in }
  ) throws(PackMakingError) -> ImportedRecordings {
    let pieces: [(row: SheetRow, recording: Recording, time: String)]
    do throws(PackMakingError) {
      pieces = try cutting.cut(Recording.read(file), into: rows, orOnly: required, otherSheets: otherSheets())
    } catch {
      throw PackMakingError(
        error.code, file.lastPathComponent, error.problem, remedy: error.remedy, details: error.details)
    }
    let inputs = pieces.map { row, piece, _ in
      Input(name: Self.name(row), row: row) { () throws(PackMakingError) in piece }
    }
    var imported = try prepare(inputs, progress)
    imported.times = pieces.map(\.time)
    imported.warnings += Self.sameRecordings(in: imported)
    if pieces.count < rows.count {
      imported.warnings.insert(
        ImportWarning(
          code: .missingRow, subject: "The recording",
          problem: "has the \(pieces.count) required rows; the other \(rows.count - pieces.count) have no recording"),
        at: 0)
    }
    return imported
  }
}

/// A recording, and its row of the recording sheet.
public struct RecordingSource: Sendable, Hashable {
  public var file: URL
  public var row: SheetRow
  /// The name of the recording in messages.
  public var name: String

  /// - Parameter name: the name of the recording in messages; `nil` for the name of the file.
  public init(file: URL, row: SheetRow, name: String? = nil) {
    self.file = file
    self.row = row
    self.name = name ?? file.lastPathComponent
  }
}

extension RecordingImport {
  private struct Input {
    var name: String
    var row: SheetRow
    var recording: () throws(PackMakingError) -> Recording
  }

  private func prepare(_ inputs: [Input], _ progress: Progress) throws(PackMakingError) -> ImportedRecordings {
    guard !inputs.isEmpty else {
      throw PackMakingError(
        .noRecordings, "The recordings", "match none of the sheet's rows",
        remedy: "name each after its row's file, token or text")
    }
    var imported = ImportedRecordings(clips: [], rows: [], names: [], warnings: [])
    var faults: [String] = []
    var unknown: [String] = []
    var sound = SoundWarnings(isProgram: isProgram)
    for (index, input) in inputs.enumerated() {
      do throws(PackMakingError) {
        let clip = try ClipPreparation().prepare(input.recording())
        imported.clips.append(
          PackClip(
            tokens: input.row.tokens, position: input.row.position, text: input.row.text, waveform: clip.waveform))
        imported.rows.append(input.row)
        imported.names.append(input.name)
        sound.add(clip.report, input.name)
      } catch {
        if error.code == .formatUnknown { unknown.append(input.name) }
        faults.append("\(input.name): \(error.problem); \(error.remedy)")
      }
      progress(index + 1, inputs.count, input.name)
    }
    guard faults.isEmpty else {
      throw PackMakingError(
        .unusableRecordings, "The recordings", "include \(faults.count) unusable files, so nothing was imported",
        remedy: unknown.count == faults.count && unknown.count > 1
          ? "convert them in their folder: \(SoundConversion.line(forAll: unknown))"
          : "record these again, or remove them and import the rest", details: faults)
    }
    imported.warnings += sound.warnings
    return imported
  }

  /// Returns the file for each row. The key is the row's index.
  private func matched(
    _ files: [String], _ rows: [SheetRow]
  ) throws(PackMakingError) -> (found: [Int: String], warnings: [ImportWarning]) {
    let names = RecordingNames(rows)
    var found: [Int: [String]] = [:]
    var warnings: [ImportWarning] = []
    var faults: [String] = []
    for file in files {
      guard RecordingNames.isSoundFile(file) else {
        warnings.append(ImportWarning(code: .extraFile, subject: file, problem: "has no sound file extension"))
        continue
      }
      let fitting = names.rows(for: file)
      if fitting.count > 1 {
        let rows = fitting.map { Self.name(rows[$0]) }.joined(separator: ", ")
        faults.append("\(file) matches several rows: \(rows)")
      }
      if fitting.isEmpty {
        warnings.append(ImportWarning(code: .extraFile, subject: file, problem: "matches no row of the sheet"))
      }
      if fitting.count == 1 { found[fitting[0], default: []].append(file) }
    }
    for index in rows.indices {
      // The folder may contain both a converted file and its original. Only the readable file is then used.
      if let readable = found[index]?.filter(RecordingNames.isReadable), !readable.isEmpty { found[index] = readable }
      guard let files = found[index], files.count > 1 else { continue }
      faults.append("\(Self.name(rows[index])) has several recordings: \(files.joined(separator: ", "))")
    }
    guard faults.isEmpty else {
      throw PackMakingError(
        .ambiguousRecording, "The recordings", "do not each match exactly one row",
        remedy: "keep one recording per row, and name it after the row's file", details: faults)
    }
    return (found.compactMapValues(\.first), warnings)
  }

  /// Returns the number and the text of a row, as messages show them.
  public static func name(_ row: SheetRow) -> String { "row \(row.number) (\(row.text))" }
}
