// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import ConcurrencySupport
import FileSystem
import Foundation
import Logging
import Mastering
import Playback
import Waveforms
import WeeklyTimes

/// The volume, the chimes and the output that somebody chose through the service. They are stored in the home folder,
/// and take precedence over the settings until somebody returns to the settings.
final class PlayerPreferences: Sendable {
  /// The stored form of the volume.
  private struct Kept: Codable {
    var volume: Int?
    /// The volume that was set while a rule of the time of day applied, and the time at which it was set.
    var passing: Int?
    var passingSince: Date?
  }
  private struct KeptOutput: Codable { var output: String }

  private struct Chosen: Sendable {
    var volume = VolumeChoice()
    var chimes = Chimes()
    var output: String?
  }

  private let folder: URL
  /// The player's settings without the choices.
  private let base: Player.Settings
  private let chosen: Locked<Chosen>
  private let turns = Turns<String>()

  /// Reads the stored choices. A file that cannot be used is left alone, and the settings apply instead.
  init(folder: URL, settings: Player.Settings, logger: Logger) {
    self.folder = folder
    base = settings
    var chosen = Chosen()
    if let bytes = Self.bytes(of: Self.volumeFile(folder)) {
      let kept = try? JSONDecoder().decode(Kept.self, from: bytes)
      if let choice = kept.flatMap({ VolumeChoice(usual: $0.volume, passing: $0.passing, since: $0.passingSince) }) {
        chosen.volume = choice
      } else {
        Self.warn(Self.volumeFile(folder), logger)
      }
    }
    if Self.bytes(of: Self.outputFile(folder)) != nil {
      chosen.output = Self.output(in: folder)
      if chosen.output == nil { Self.warn(Self.outputFile(folder), logger) }
    }
    if let bytes = Self.bytes(of: Self.chimeFile(folder)) {
      chosen.chimes.all = Self.chime(bytes)
      if chosen.chimes.all == nil { Self.warn(Self.chimeFile(folder), logger) }
    }
    for kind in Payment.Kind.allCases {
      guard let bytes = Self.bytes(of: Self.chimeFile(folder, kind)) else { continue }
      chosen.chimes.own[kind] = Self.own(bytes)
      if chosen.chimes.own[kind] == nil { Self.warn(Self.chimeFile(folder, kind), logger) }
    }
    self.chosen = Locked(chosen)
  }

  private static func volumeFile(_ folder: URL) -> URL { folder.appending(path: "volume.json") }
  private static func outputFile(_ folder: URL) -> URL { folder.appending(path: "output.json") }
  private static func chimeFile(_ folder: URL, _ kind: Payment.Kind? = nil) -> URL {
    folder.appending(path: kind.map { "chime-\($0.rawValue).wav" } ?? "chime.wav")
  }

  /// Returns the name of the output that is kept in a folder; nil if there is none, or if it cannot be read.
  static func output(in folder: URL) -> String? {
    bytes(of: outputFile(folder)).flatMap { try? JSONDecoder().decode(KeptOutput.self, from: $0) }?.output
  }

  /// A file without samples, which means that there is no chime.
  private static let noChime = WAVFile.encode(Waveform(samples: [], sampleRate: Mastering.sampleRate))

  /// Reads the stored chime of a kind.
  private static func own(_ bytes: Data) -> Chimes.Own? {
    bytes.elementsEqual(noChime) ? Chimes.Own.none : chime(bytes).map { .sound($0) }
  }

  /// Reads a stored chime. It is not mastered again, because each mastering would change it a little.
  private static func chime(_ bytes: Data) -> Waveform? {
    guard let chime = try? WAVFile.decode([UInt8](bytes)).waveform, chime.sampleRate == Mastering.sampleRate,
      (1...PlayableFile.longestChimeMilliseconds + 1_000).contains(chime.durationMilliseconds)
    else { return nil }
    return chime
  }

  /// Returns the bytes of a file; empty if the file cannot be read, and nil if it does not exist.
  private static func bytes(of file: URL) -> Data? {
    guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return nil }
    return (try? Data(contentsOf: file)) ?? Data()
  }

  private static func warn(_ file: URL, _ logger: Logger) {
    logger.warning(
      "A stored choice for the player cannot be read, so the settings apply. Choose again, or remove the file.",
      metadata: ["file": "\(file.path(percentEncoded: false))"])
  }

  /// The settings with the choices.
  var settings: Player.Settings {
    let chosen = chosen.withLock { $0 }
    var settings = base
    settings.volumeChoice = chosen.volume
    settings.chimes.all = chosen.chimes.all ?? base.chimes.all
    settings.chimes.own.merge(chosen.chimes.own) { $1 }
    return settings
  }

  /// The name of the chosen output; nil for the output of the settings.
  var output: String? { chosen.withLock { $0.output } }

  /// Stores an output, or returns to the output of the settings.
  ///
  /// - Parameters:
  ///   - name: The output's name; nil for the output of the settings.
  ///   - apply: changes the output. Choices are applied in the order in which they are stored.
  /// - Throws: `SystemError`. After an error, nothing has changed.
  func keepOutput(_ name: String?, then apply: @Sendable () async -> Void) async throws {
    try await turns.take(["output"]) {
      try await write(
        name.map { [UInt8](try JSONEncoder().encode(KeptOutput(output: $0))) }, to: Self.outputFile(folder))
      chosen.withLock { $0.output = name }
      await apply()
    }
  }

  /// Stores a volume, or returns to the volume of the rules and the settings.
  ///
  /// - Parameters:
  ///   - percent: 0 to 100; nil for the volume of the rules and the settings.
  ///   - apply: gives the volume to the player. Choices are applied in the order in which they are stored.
  /// - Throws: `SystemError`, after which nothing has changed; the errors of `apply`.
  func keepVolume(_ percent: Int?, then apply: @Sendable () async throws -> Void) async throws {
    try await turns.take(["volume"]) {
      var choice = chosen.withLock { $0.volume }
      choice.choose(percent, at: Date(), base.volumes)
      let kept = Kept(volume: choice.usual, passing: choice.passing, passingSince: choice.passingSince)
      let bytes = choice == VolumeChoice() ? nil : [UInt8](try JSONEncoder().encode(kept))
      try await write(bytes, to: Self.volumeFile(folder))
      chosen.withLock { [choice] in $0.volume = choice }
      try await apply()
    }
  }

  /// Stores the chime of all announcements, or returns to the chime of the settings.
  ///
  /// - Parameters:
  ///   - chime: A chime as ``PlayableFile`` makes it; nil for the chime of the settings.
  ///   - apply: gives the settings to the player. Choices are applied in the order in which they are stored.
  /// - Throws: `SystemError`, after which nothing has changed; the errors of `apply`.
  func keepChime(
    _ chime: Waveform?, then apply: @Sendable (Player.Settings) async throws -> Void
  ) async throws {
    try await keep(chime.map { WAVFile.encode($0) }, in: Self.chimeFile(folder), { $0.all = chime }, apply)
  }

  /// Stores the chime of a kind of payments, or returns to the chime of the settings; see ``keepChime(_:then:)``.
  func keepChime(
    _ chime: Chimes.Own?, of kind: Payment.Kind, then apply: @Sendable (Player.Settings) async throws -> Void
  ) async throws {
    let bytes: [UInt8]? =
      switch chime {
      case nil: nil
      case Chimes.Own.none?: Self.noChime
      case .sound(let chime)?: WAVFile.encode(chime)
      }
    try await keep(bytes, in: Self.chimeFile(folder, kind), { $0.own[kind] = chime }, apply)
  }

  private func keep(
    _ bytes: [UInt8]?, in file: URL, _ change: @Sendable (inout Chimes) -> Void,
    _ apply: @Sendable (Player.Settings) async throws -> Void
  ) async throws {
    try await turns.take(["chime"]) {
      try await write(bytes, to: file)
      let isChanged = chosen.withLock { chosen in
        let before = chosen.chimes
        change(&chosen.chimes)
        return chosen.chimes != before
      }
      if isChanged { try await apply(settings) }
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
