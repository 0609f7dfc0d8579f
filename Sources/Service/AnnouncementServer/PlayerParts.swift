// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Logging
public import Playback
public import SoundOutputs
public import Waveforms

/// An output on which the service can play, and its lane.
public struct OutputParts: Sendable {
  /// The output's name, as `OutputName` reads it.
  public var name: String
  public var lane: String
  /// Makes the output, without opening it.
  public var make: @Sendable () throws(OutputError) -> any SoundOutput

  public init(name: String, lane: String, make: @escaping @Sendable () throws(OutputError) -> any SoundOutput) {
    (self.name, self.lane, self.make) = (name, lane, make)
  }
}

/// The parts of the service's player.
public struct PlayerParts: Sendable {
  /// The output of the settings.
  public var output: OutputParts
  public var settings: Player.Settings
  /// Returns an output by its name.
  public var named: @Sendable (String) throws(OutputError) -> OutputParts
  /// Returns the outputs of this machine. The call may block.
  public var listed: @Sendable () -> [ListedOutput]
  /// Makes the sound with which somebody tests the output. The call may block.
  public var testSound: @Sendable () throws -> Waveform

  public init(
    output: OutputParts, settings: Player.Settings,
    named: @escaping @Sendable (String) throws(OutputError) -> OutputParts,
    listed: @escaping @Sendable () -> [ListedOutput], testSound: @escaping @Sendable () throws -> Waveform
  ) {
    (self.output, self.settings, self.named, self.listed) = (output, settings, named, listed)
    self.testSound = testSound
  }

  /// Returns the name of the output that somebody chose through the service; nil for the output of the settings.
  ///
  /// - Parameter preferences: The folder of the choices for the player.
  public static func chosenOutput(in preferences: URL) -> String? { PlayerPreferences.output(in: preferences) }

  /// Returns the chosen output, or else the output of the settings.
  func output(kept name: String?, logger: Logger) -> OutputParts {
    guard let name, name != output.name else { return output }
    do throws(OutputError) {
      let chosen = try named(name)
      logger.notice(
        "The service plays on the output that was chosen through the service, not on the output of the settings.",
        metadata: ["output": "\(name)"])
      return chosen
    } catch {
      logger.warning(
        "The chosen output cannot be used. The output of the settings is used instead.", metadata: ["error": "\(error)"]
      )
      return output
    }
  }
}
