// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// Makes the sound of an announcement.
public protocol Rendering: Sendable {
  /// Makes the sound, or finds it made. Asked again for the same announcement, it gives the same.
  ///
  /// - Throws: ``RenderFailure``; any other error is taken for one that passes, so that money is not lost by it.
  func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound

  /// Makes the sound that is heard before a replay, within the same turn: "again", in the language of what is replayed.
  ///
  /// - Throws: as ``render(_:)``; the replay is not heard then, for without it a replay sounds like another payment.
  func again(before replay: StoredAnnouncement) async throws -> Waveform
}

/// An announcement that can be played.
public struct RenderedSound: Sendable, Hashable {
  public var waveform: Waveform
  /// The name of its clip in the sound library, if it is there.
  public var clip: String?

  public init(waveform: Waveform, clip: String? = nil) {
    self.waveform = waveform
    self.clip = clip
  }
}

/// Why there is no sound.
public struct RenderFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// Stable, for programs to branch on.
  public var code: String

  /// Whether trying again later may help: the engine is away, the disk is full. Money waits for that as long as it
  /// takes. What lies in the announcement itself stays.
  public var isPassing: Bool

  public init(code: String, isPassing: Bool) {
    self.code = code
    self.isPassing = isPassing
  }

  public var description: String {
    "Making the sound of an announcement failed: \(code). "
      + (isPassing ? "It is tried again." : "It cannot be said as it is; correct it and send it under another id.")
  }
}
