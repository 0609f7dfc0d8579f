// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import FileSystem
import Foundation
import Logging
import Mastering
import Playback
import Waveforms

/// The volume and the chime that somebody chose through the service. They are kept in the home, and take precedence
/// over the settings until somebody returns to these.
final class PlayerPreferences: Sendable {
  private struct Kept: Codable { var volume: Int }

  private struct Chosen: Sendable {
    var volume: Int?
    var chime: Waveform?
  }

  private let folder: URL
  /// The player's settings without the choices.
  private let base: Player.Settings
  private let chosen: Locked<Chosen>
  private let turns = Turns<String>()

  /// Reads the choices that were kept. A file that cannot be used is left alone, and the settings apply instead.
  init(folder: URL, settings: Player.Settings, logger: Logger) {
    self.folder = folder
    base = settings
    var chosen = Chosen()
    if let bytes = Self.bytes(of: Self.volumeFile(folder)) {
      let kept = try? JSONDecoder().decode(Kept.self, from: bytes)
      chosen.volume = kept.flatMap { (0...100).contains($0.volume) ? $0.volume : nil }
      if chosen.volume == nil { Self.warn(Self.volumeFile(folder), logger) }
    }
    if let bytes = Self.bytes(of: Self.chimeFile(folder)) {
      chosen.chime = Self.chime(bytes)
      if chosen.chime == nil { Self.warn(Self.chimeFile(folder), logger) }
    }
    self.chosen = Locked(chosen)
  }

  private static func volumeFile(_ folder: URL) -> URL { folder.appending(path: "volume.json") }
  private static func chimeFile(_ folder: URL) -> URL { folder.appending(path: "chime.wav") }

  /// Reads a chime as it was kept. It is not mastered again, because that would change it a little each time.
  private static func chime(_ bytes: Data) -> Waveform? {
    guard let chime = try? WAVFile.decode([UInt8](bytes)).waveform, chime.sampleRate == Mastering.sampleRate,
      (1...PlayableFile.longestChimeMilliseconds + 1_000).contains(chime.durationMilliseconds)
    else { return nil }
    return chime
  }

  /// Returns the bytes of a file; empty for one that cannot be read, and nil for one that does not exist.
  private static func bytes(of file: URL) -> Data? {
    guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return nil }
    return (try? Data(contentsOf: file)) ?? Data()
  }

  private static func warn(_ file: URL, _ logger: Logger) {
    logger.warning(
      "A kept choice for the player cannot be read. The value of the settings applies. Choose again, or remove the file.",
      metadata: ["file": "\(file.path(percentEncoded: false))"])
  }

  /// The settings with the choices.
  var settings: Player.Settings {
    let chosen = chosen.withLock { $0 }
    var settings = base
    settings.volume = chosen.volume ?? base.volume
    settings.chime = chosen.chime ?? base.chime
    return settings
  }

  /// Keeps a volume, or returns to that of the settings.
  ///
  /// - Parameters:
  ///   - percent: 0 to 100; nil for the volume of the settings.
  ///   - apply: gives the settings to the player. Choices are applied in the order in which they are kept.
  /// - Throws: `SystemError`. Nothing was changed then. Errors of `apply`.
  func keepVolume(
    _ percent: Int?, then apply: @Sendable (Player.Settings) async throws -> Void
  ) async throws {
    try await turns.take(["volume"]) {
      try await write(
        percent.map { [UInt8](try JSONEncoder().encode(Kept(volume: $0))) }, to: Self.volumeFile(folder))
      chosen.withLock { $0.volume = percent }
      try await apply(settings)
    }
  }

  /// Keeps a chime, or returns to that of the settings.
  ///
  /// - Parameters:
  ///   - chime: A chime as ``PlayableFile`` makes it; nil for that of the settings.
  ///   - apply: gives the settings to the player. Choices are applied in the order in which they are kept.
  /// - Throws: `SystemError`. Nothing was changed then. Errors of `apply`.
  func keepChime(
    _ chime: Waveform?, then apply: @Sendable (Player.Settings) async throws -> Void
  ) async throws {
    try await turns.take(["chime"]) {
      try await write(chime.map { WAVFile.encode($0) }, to: Self.chimeFile(folder))
      let wasKept = chosen.withLock { chosen in
        defer { chosen.chime = chime }
        return chosen.chime != nil
      }
      // Without a kept chime, the player has that of the settings already.
      if wasKept || chime != nil { try await apply(settings) }
    }
  }

  private func write(_ bytes: [UInt8]?, to file: URL) async throws {
    try await onWaitingThread { [folder] in
      guard let bytes else { return try DurableFile.remove(file) }
      try DurableFolder.make(folder, .ownerOnly)
      try DurableFile.write(bytes, to: file)
    }
  }
}
