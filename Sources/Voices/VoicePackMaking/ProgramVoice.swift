// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation

/// A speech program as the voice of a pack. It is run for each row of the recording sheet, and for each number with its
/// unit.
public struct ProgramVoice: PackVoice {
  private let program: SpeechProgram
  public let folder: URL

  /// Creates the voice.
  ///
  /// - Parameters:
  ///   - seconds: the time that the program may take for one row.
  ///   - folder: the folder of finished rows. It must belong to this pack alone.
  /// - Throws: `PackMakingError` with the code `commandInvalid` if the program is not installed.
  public init(_ command: SpeechCommand, seconds: Int, folder: URL) throws(PackMakingError) {
    _ = try SpeechProgram.program(command.words[0])
    program = SpeechProgram(command: command, seconds: seconds)
    self.folder = folder
  }

  /// Returns the rows to speak: the rows of the recording sheet, and the numbers with their units.
  ///
  /// - Throws: `AnnouncementError` for a phrase book that cannot speak its own currency.
  public static func rows(of vocabulary: Vocabulary, writer: ScriptWriter) throws(AnnouncementError) -> [SheetRow] {
    try PackRow.rows(of: vocabulary, writer: writer).map(\.row)
  }

  public var recipe: [String] { program.command.words }

  /// Runs the program for a row.
  ///
  /// - Throws: `PackMakingError` with the code `programFailed`; `CancellationError`.
  public func speak(_ row: SheetRow, to output: URL) async throws {
    try await program.speak(row.spokenText, in: folder, to: output)
    do throws(PackMakingError) {
      _ = try ClipPreparation().prepare(Recording.read(output))
    } catch {
      throw PackMakingError(
        .programFailed, "what the program wrote", error.problem, remedy: "try the command by hand")
    }
  }
}
