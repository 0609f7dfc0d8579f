// SPDX-License-Identifier: Apache-2.0

public import Ledger
public import Waveforms

/// A renderer of announcements.
public protocol Rendering: Sendable {
  /// Returns the existing sound that was decided on when the announcement was accepted; nil if there was no decision,
  /// or if the clip is gone. The call makes no decision and renders nothing.
  func decided(_ announcement: StoredAnnouncement) async -> RenderedSound?

  /// Renders the sound, or returns the existing one. The same announcement always gives the same sound. If a decision
  /// exists but its clip is gone, the clip is made again with the same voice or, if that voice is gone too, with any
  /// voice of the language.
  ///
  /// - Throws: ``RenderFailure``. Any other error is treated as temporary, so that no payment is lost.
  func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound

  /// Renders the word "again" in the replay's language. The word is played immediately before the replay.
  ///
  /// - Throws: The same errors as ``render(_:)``. The replay is then not played, because without the word it would
  ///   sound like another payment.
  func again(before replay: StoredAnnouncement) async throws -> Waveform
}

extension Rendering {
  public func decided(_ announcement: StoredAnnouncement) async -> RenderedSound? { nil }
}

/// The sound of an announcement.
public struct RenderedSound: Sendable, Hashable {
  public var waveform: Waveform
  /// The name of its clip, if the clip is in the sound library.
  public var clip: String?
  /// The decision about the announcement when it was rendered; nil for a sound file.
  public var decision: Decision?

  public init(waveform: Waveform, clip: String? = nil, decision: Decision? = nil) {
    self.waveform = waveform
    self.clip = clip
    self.decision = decision
  }
}

/// The error for a sound that cannot be rendered.
public struct RenderFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code for programs.
  public var code: String

  /// Whether a later attempt may succeed, for example if the engine is unavailable or the disk is full. Payments and
  /// refunds wait for such an attempt without limit. An error in the announcement itself is permanent.
  public var isPassing: Bool

  public init(code: String, isPassing: Bool) {
    self.code = code
    self.isPassing = isPassing
  }

  public var description: String {
    "The sound of an announcement could not be rendered: \(code). "
      + (isPassing
        ? "Rendering is retried." : "The error is permanent; correct the announcement and send it with another id.")
  }
}
