// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import InstallationDiagnosis
import SpeechEngine

/// A look at the speech engine, which speaks one word in its sandbox.
public enum EngineLook {
  /// Starts the speaker program, and ends it again.
  ///
  /// - Parameter speaker: The speaker program.
  public static func look(speaker: URL) async -> EngineFacts {
    let engine = SpeechEngine(SpeechEngine.Configuration(speaker: speaker, speakers: 1))
    let start = ContinuousClock.now
    do {
      let identity = try await engine.identity()
      _ = try await engine.speak(Utterance(voice: "en-us", rate: 160, text: "one"))
      let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
      return .ready(identity: identity.description, milliseconds: milliseconds)
    } catch {
      switch error.obstacle {
      case .programMissing: return .speakerMissing(program: speaker.path(percentEncoded: false))
      case .dataMissing: return .dataMissing
      case .sandboxUnavailable: return .sandboxUnavailable
      case nil: return .failed(problem: "\(error.operation): \(error.problem)", remedy: error.remedy)
      }
    }
  }
}
