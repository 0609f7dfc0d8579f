// SPDX-License-Identifier: Apache-2.0

import Mastering
import SpeechEngine

/// What a clip that does not stand yet needs before it is made.
///
/// Whoever makes clips for others limits their work with it. A clip that stands already is found without it.
public struct NewClipPermit: Sendable {
  /// What became of the work that a permit was for.
  public enum Ending: Sendable, Hashable {
    case made(bytes: Int)
    /// The fault lies in what was to be said: the engine worked for nothing, and would again.
    case contentFailed
    /// The fault lies in the service, such as an engine that is not there or a full disk.
    case serviceFailed

    init(_ error: any Error) {
      let isOfContent =
        switch error {
        case let error as SpeechEngineError: error.isOfText
        case let error as AnnouncerError: error.code == .tooLong
        case let error as MasteringError: [.silent, .loudnessUnreachable].contains(error.code)
        default: false
        }
      self = isOfContent ? .contentFailed : .serviceFailed
    }
  }

  /// Called before the clip is made. It may wait; it throws to refuse the clip.
  public let begin: @Sendable () async throws -> Void
  /// Called once for each `begin` that returned.
  public let end: @Sendable (Ending) -> Void

  /// A permit that is always given.
  public static let always = NewClipPermit(begin: {}, end: { _ in })

  public init(begin: @escaping @Sendable () async throws -> Void, end: @escaping @Sendable (Ending) -> Void) {
    self.begin = begin
    self.end = end
  }
}

extension SpeechEngineError {
  /// Whether the text is at fault, or how it was to be said, and not the engine.
  fileprivate var isOfText: Bool {
    switch code {
    case .textUnspeakable, .speechMismatch, .requestRefused, .voiceUnknown: true
    case .engineUnavailable, .queueFull, .speakerDied, .cancelled: false
    }
  }
}
