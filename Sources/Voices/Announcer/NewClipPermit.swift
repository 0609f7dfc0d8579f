// SPDX-License-Identifier: Apache-2.0

import Mastering
import SpeechEngine

/// A permit to render a clip. It is requested before a clip is rendered. A service uses it to limit the work done for
/// an account.
///
/// A clip that already exists needs no permit.
public struct NewClipPermit: Sendable {
  /// The outcome of the work for which a permit was requested.
  public enum Ending: Sendable, Hashable {
    case made(bytes: Int)
    /// The content cannot be spoken. The engine's work was useless, and a retry would be useless too.
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

  /// Called before the clip is rendered. It may wait. It throws an error to refuse the clip.
  public let begin: @Sendable () async throws -> Void
  /// Called exactly once for each call of `begin` that returned.
  public let end: @Sendable (Ending) -> Void

  /// A permit that is always granted.
  public static let always = NewClipPermit(begin: {}, end: { _ in })

  public init(begin: @escaping @Sendable () async throws -> Void, end: @escaping @Sendable (Ending) -> Void) {
    self.begin = begin
    self.end = end
  }
}

extension SpeechEngineError {
  /// Whether the text or the voice caused the error, and not the engine's state.
  fileprivate var isOfText: Bool {
    switch code {
    case .textUnspeakable, .speechMismatch, .requestRefused, .voiceUnknown: true
    case .engineUnavailable, .queueFull, .speakerDied, .cancelled: false
    }
  }
}
