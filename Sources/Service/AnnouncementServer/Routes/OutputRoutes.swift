// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Playback
import ServiceAccess
import SoundOutputs
import Waveforms

/// The routes that list the outputs of this machine, choose one, and play a sound to test it.
struct OutputRoutes: Sendable {
  /// The time after which a test sound that could not begin is dropped, in seconds.
  static let testLifetime: TimeInterval = 60
  /// The usual sample rate of clips, in Hz, with which an output is tried.
  private static let usualRate = 22_050

  let player: LanePlayer?
  let parts: PlayerParts?
  let makePart: (@Sendable (OutputParts) -> LanePlayer.Part)?
  let preferences: PlayerPreferences?
  let keys: KeyRing
  /// The file of the test sound, which the player reads.
  let testSoundFile: URL
  let administration: AdministrationLog

  var routes: [Route] {
    [
      .get("/v1/outputs", .key(.operate)) { _ in try await list() },
      .put("/v1/playback/output", .key(.operate), choose),
      .post("/v1/playback/test", .key(.operate), test),
    ]
  }

  private struct Output: Encodable {
    var id: String
    var name: String
    var inUse: Bool
  }

  private func list() async throws -> Response {
    guard let player, let parts else { throw Problem.noPlayer }
    let used = player.output
    let outputs = await selectable(parts, used).map { Output(id: $0.id, name: $0.name, inUse: $0.id == used) }
    return try ServiceJSON.response(.ok, ["outputs": outputs])
  }

  /// Returns the outputs of the machine. They include the output of the settings and the output in use, even if the
  /// system does not list these.
  private func selectable(_ parts: PlayerParts, _ used: String) async -> [ListedOutput] {
    var outputs = await onWaitingThread { parts.listed() }
    for name in [parts.output.name, used] where !outputs.contains(where: { $0.id == name }) {
      outputs.append(ListedOutput(id: name, name: name))
    }
    return outputs
  }

  private func choose(_ call: Call) async throws -> Response {
    guard let player, let parts, let makePart, let preferences else { throw Problem.noPlayer }
    let fields = try await JSONFields.read(call, keys: ["output"], keys)
    let remedy = "give the id of an output, or null for the output of the settings"
    let name = try fields.string("output", remedy)
    if !fields.contains("output") { _ = try fields.required("output", name, remedy) }
    // The text of any other name could make ALSA write files or run programs.
    if let name, await !selectable(parts, player.output).contains(where: { $0.id == name }) {
      throw Problem(
        .unprocessableContent, "output_unknown",
        "output: is not an output of this machine; give the id of one that GET /v1/outputs lists.")
    }
    let chosen = try await onWaitingThread { try Self.usable(name, parts, used: player.output) }
    try await preferences.keepOutput(name) { await player.change(to: makePart(chosen)) }
    await administration.record(.outputChanged, call, subject: chosen.name.utf8.count > 255 ? nil : chosen.name)
    return try await list()
  }

  /// Returns an output after it was opened for a moment, so that a mistake does not silence the shop.
  private static func usable(_ name: String?, _ parts: PlayerParts, used: String) throws(Problem) -> OutputParts {
    do throws(OutputError) {
      let chosen = try name.map { name throws(OutputError) in try parts.named(name) } ?? parts.output
      guard chosen.name != used else { return chosen }
      let output = try chosen.make()
      defer { output.release() }
      try output.open(rate: usualRate)
      return chosen
    } catch {
      // The player itself may have the device, under another name.
      if error.code == .deviceBusy, let chosen = try? name.map(parts.named) ?? parts.output { return chosen }
      throw Problem(
        .conflict, error.code.rawValue,
        "The output cannot be used: \(error.reason). To continue, \(error.remedy). The former output stays.")
    }
  }

  /// Plays a sound that says nothing about money.
  private func test(_ call: Call) async throws -> Response {
    guard let player = player?.player, let parts else { throw Problem.noPlayer }
    try await onWaitingThread { [testSoundFile] in
      let sound = WAVFile.encode(try parts.testSound())
      try DurableFolder.make(testSoundFile.deletingLastPathComponent(), .ownerOnly)
      try DurableFile.write(sound, to: testSoundFile)
    }
    let acceptance = try await player.accept(
      StoredAnnouncement(
        file: testSoundFile, id: "test-\(UUID().uuidString)", expiresAt: Date(timeIntervalSinceNow: Self.testLifetime)))
    return try ServiceJSON.response(.accepted, ["number": acceptance.number])
  }
}
