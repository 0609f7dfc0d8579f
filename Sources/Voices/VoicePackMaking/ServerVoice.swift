// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SpeechServers
import Waveforms

/// A speech server as the voice of a pack. It speaks each row once, one row after the other.
///
/// No listener waits for the rows, so each of them may take ``patience`` times as long as in an announcement.
public struct ServerVoice: PackVoice {
  /// The factor by which the server's time limits are multiplied.
  public static let patience = 10

  private let client: SpeechServerClient
  private let rows: ReadBackRows
  public let folder: URL
  public let recipe: [String]

  /// Creates the voice. No request is sent to the server.
  ///
  /// - Parameters:
  ///   - identity: the line that identifies the voice of the server. With another version of the voice, all rows are
  ///     spoken again.
  ///   - rows: the rows that will be spoken.
  ///   - folder: the folder of finished rows. It must belong to this pack alone.
  /// - Throws: `SpeechServerError`: `keyUnusable`, `addressInvalid`.
  public init(
    _ server: SpeechServer, identity: String, rows: ReadBackRows, folder: URL
  ) throws(SpeechServerError) {
    var server = server
    server.limits = server.limits.lengthened(by: Self.patience)
    client = try SpeechServerClient(server)
    (self.rows, self.folder) = (rows, folder)
    recipe = [server.id, identity, "\(server.speedPercent)"]
  }

  /// Lets the server speak a row.
  ///
  /// - Throws: `PackMakingError` with the code `serverFailed`; `rowUnread` for a row that was not read back.
  ///   `CancellationError`. Errors of the file system.
  public func speak(_ row: SheetRow, to output: URL) async throws {
    guard let words = rows.words[row] else {
      throw PackMakingError(.rowUnread, row.text, "was not read back", remedy: "report this fault of Crier")
    }
    let server = client.server
    let subject = "the speech server \(server.id)"
    let sound: Waveform
    do throws(SpeechServerError) {
      sound = try await client.speak(words, speedPercent: server.speedPercent)
      let plausibility = SoundPlausibility(pace: .excerpt)
      let speed = client.appliesSpeed ? server.speedPercent : 100
      if let refusal = plausibility.refusal(of: sound, saying: words.text, speedPercent: speed) {
        throw SpeechServerError(
          .soundRefused, server: server.id, "sent a sound that cannot belong to the words (\(refusal.rawValue))",
          remedy: "check its voice and language", refusal: refusal)
      }
    } catch {
      if error.code == .cancelled { throw CancellationError() }
      throw PackMakingError(.serverFailed, subject, error.problem, remedy: error.remedy)
    }
    do throws(PackMakingError) {
      _ = try ClipPreparation().prepare(Recording(sound))
    } catch {
      throw PackMakingError(
        .serverFailed, "what \(subject) sent", error.problem, remedy: "check its voice and language")
    }
    try Data(WAVFile.encode(sound)).write(to: output)
  }
}
