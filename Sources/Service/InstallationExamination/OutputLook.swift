// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import InstallationDiagnosis
import Ledger
import SoundOutputs
import Waveforms

/// A look at the output, which plays a moment of silence.
public enum OutputLook {
  /// The length of the silence in ms. It is longer than a device's period, so that the device must really play.
  static let silenceMilliseconds = 100
  private static let sampleRate = 22_050

  /// - Parameters:
  ///   - name: The output's name, as in the settings.
  ///   - player: The player that may use the output now. Its device is not tried, so that an announcement that begins
  ///     meanwhile can use it.
  ///   - mayOpenDevices: Whether a device may be opened; see ``SoundServerRestraint``.
  ///   - environment: The environment of this process, which says where sound servers are.
  public static func look(
    name: String, player: PlayerLook, mayOpenDevices: Bool = true, environment: [String: String]
  ) async -> OutputFacts {
    OutputFacts(
      name: name, servers: SoundServers.answering(environment: environment), cards: SoundServers.cards,
      outcome: name == "none" ? .none : await outcome(name, player, mayOpenDevices))
  }

  private static func outcome(
    _ name: String, _ player: PlayerLook, _ mayOpenDevices: Bool
  ) async -> OutputFacts.Outcome {
    do throws(OutputError) {
      let output = try OutputName(name)
      switch output {
      case .null: return .noDevice
      case .file(let path): return fileOutcome(path)
      case .alsa, .systemDefault: break
      }
      switch player {
      case .none: break
      case .unknown:
        return .notTried("the ledger cannot be read, so it is not known whether a player uses the output")
      case .running(let player):
        let code = player.report?.isDeviceLost == true ? player.report?.deviceCode ?? "device_lost" : nil
        return .played(process: player.report?.processID ?? 0, lostDevice: code)
      }
      guard mayOpenDevices else {
        return .notTried(
          "a test could start a sound server, because the temporary file that prevents this cannot be written")
      }
      return try await play(on: output.makeOutput())
    } catch {
      return switch error.code {
      case .invalidName: .invalidName(error.reason, remedy: error.remedy)
      case .deviceBusy: .busy(error.reason)
      default: .failed(error.reason, remedy: error.remedy)
      }
    }
  }

  private static func fileOutcome(_ path: String) -> OutputFacts.Outcome {
    let folder = URL(filePath: path).absoluteURL.deletingLastPathComponent().path(percentEncoded: false)
    // unsafe: the text lives as long as the call.
    guard unsafe access(folder, W_OK) == 0 else {
      return .failed("this user may not write to the file's folder", remedy: "name another file")
    }
    return .noDevice
  }

  /// Plays silence on an output, and releases it again.
  static func play(on output: any SoundOutput) async throws(OutputError) -> OutputFacts.Outcome {
    let silence = Waveform(
      samples: [Int16](repeating: 0, count: sampleRate * silenceMilliseconds / 1000), sampleRate: sampleRate)
    let start = ContinuousClock.now
    try await onWaitingThread { () throws(OutputError) in
      defer { output.release() }
      _ = try output.play(silence, volume: .full, control: PlayControl(label: "doctor"))
    }
    return .silencePlayed(milliseconds: Int((ContinuousClock.now - start) / .milliseconds(1)))
  }
}
