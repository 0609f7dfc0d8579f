// SPDX-License-Identifier: Apache-2.0

import Mastering
import SpeechEngine

/// A permit that is requested before a clip is rendered. A service uses it to limit the work done for an account.
///
/// A clip that already exists needs no permit.
public struct NewClipPermit: Sendable {
  /// The outcome of the work that a permit was for.
  public enum Ending: Sendable, Hashable {
    case made(bytes: Int)
    /// The content cannot be spoken: the engine's work was useless, and a retry would be too.
    case contentFailed
    /// The service failed, for example because the engine is unavailable or the disk is full.
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

  /// Called before the clip is rendered. It may wait, and it throws to refuse the clip.
  public let begin: @Sendable () async throws -> Void
  /// Called once for each `begin` that returned.
  public let end: @Sendable (Ending) -> Void

  /// A permit that is always granted.
  public static let always = NewClipPermit(begin: {}, end: { _ in })

  public init(begin: @escaping @Sendable () async throws -> Void, end: @escaping @Sendable (Ending) -> Void) {
    self.begin = begin
    self.end = end
  }
}

extension SpeechEngineError {
  /// Whether the error is caused by the text or the voice, and not by the engine's state.
  fileprivate var isOfText: Bool {
    switch code {
    case .textUnspeakable, .speechMismatch, .requestRefused, .voiceUnknown: true
    case .engineUnavailable, .queueFull, .speakerDied, .cancelled: false
    }
  }
}
