// SPDX-License-Identifier: Apache-2.0

/// Why something could not be spoken. The description names no word of the text.
public struct SpeechEngineError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The speaker program, the engine's library or its data is not installed, or does not start.
    case engineUnavailable = "engine_unavailable"
    /// As many requests wait as may; nothing was done.
    case queueFull = "queue_full"
    case voiceUnknown = "voice_unknown"
    /// The engine crashed on this text, reported an error for it, or spent more time or memory than it may.
    /// Trying again gives the same.
    case textUnspeakable = "text_unspeakable"
    /// The words that the engine says it spoke are not those of the text.
    case speechMismatch = "speech_mismatch"
    /// The speaker, or a process of its own, was ended in every try, and not by the text; or the speaker hung.
    case speakerDied = "speaker_died"
    case requestRefused = "request_refused"
    case cancelled
  }

  public var code: Code

  /// What was being done, to what.
  public var operation: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  public init(_ code: Code, _ operation: String, _ problem: String, remedy: String) {
    self.code = code
    self.operation = operation
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(operation): \(problem); \(remedy)." }
}
