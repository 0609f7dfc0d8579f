// SPDX-License-Identifier: Apache-2.0

/// The reason why something could not be spoken. The description contains no word of the text.
public struct SpeechEngineError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The speaker program, the engine's library or its data is not installed, or the program does not start.
    case engineUnavailable = "engine_unavailable"
    /// The queue is full, and the request was not started.
    case queueFull = "queue_full"
    case voiceUnknown = "voice_unknown"
    /// The engine crashed on this text, reported an error for it, or exceeded its time or memory limit. Another attempt
    /// would have the same result.
    case textUnspeakable = "text_unspeakable"
    /// The words that the engine reports differ from the words of the text.
    case speechMismatch = "speech_mismatch"
    /// The speaker, or one of its child processes, ended in every attempt for a reason other than the text, or the
    /// speaker hung.
    case speakerDied = "speaker_died"
    case requestRefused = "request_refused"
    case cancelled
  }

  /// A missing part of the installation without which the engine does not start.
  public enum Obstacle: String, Sendable, Hashable, CaseIterable {
    /// The speaker program is not in the expected place.
    case programMissing = "program_missing"
    /// The engine's data is not installed, or cannot be read.
    case dataMissing = "data_missing"
    /// The system cannot confine the speaker with a filter of system calls.
    case sandboxUnavailable = "sandbox_unavailable"
  }

  public var code: Code

  /// The operation, with its object.
  public var operation: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  /// The missing part, when ``code-swift.property`` is `engineUnavailable`; nil for any other cause.
  public var obstacle: Obstacle?

  public init(
    _ code: Code, _ operation: String, _ problem: String, remedy: String, obstacle: Obstacle? = nil
  ) {
    self.obstacle = obstacle
    self.code = code
    self.operation = operation
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(operation): \(problem); \(remedy)." }
}
