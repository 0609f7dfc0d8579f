// SPDX-License-Identifier: Apache-2.0

/// The decision which sound a notification plays.
///
/// The first sound that exists is played: the announcement's own clip, the tone that somebody chose in the app, the
/// sound that the push names, or the default sound.
public struct SoundChoice: Sendable, Hashable {
  /// The name of the system's default sound. It is reserved, so iOS never plays a file with this name.
  public static let defaultName = "default"

  /// The rule that decided.
  public enum Rule: String, Sendable, Hashable, CaseIterable {
    /// The announcement has a clip.
    case announcementClip = "announcement_clip"
    /// A tone is chosen.
    case chosenTone = "chosen_tone"
    /// The push names a sound.
    case payloadSound = "payload_sound"
    /// No other rule applies.
    case defaultSound = "default"
  }

  /// The state of the chosen tone.
  public enum Tone: Sendable, Hashable {
    case notChosen
    /// The tone is chosen, and its file exists.
    case chosen(String)
    /// The tone is chosen, but its file does not exist in the group's `Library/Sounds`, or is empty.
    case missing(String)
    /// The preference cannot be read.
    case unreadable
  }

  /// The reason why a chosen tone was skipped.
  public enum Remark: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case toneMissing = "tone_missing"
    case preferenceUnreadable = "preference_unreadable"

    public var description: String {
      switch self {
      case .toneMissing: "The chosen tone was skipped, because the group's Library/Sounds does not contain its file."
      case .preferenceUnreadable: "A chosen tone was skipped, because the preference cannot be read."
      }
    }
  }

  /// The value for `content.sound`: the name of a sound file, or ``defaultName``.
  public var name: String
  public var rule: Rule
  /// The reason why a chosen tone was skipped; nil if none was skipped.
  public var remark: Remark?

  /// Whether the phone plays its default sound. iOS has a separate value for it, `UNNotificationSound.default`.
  public var isDefault: Bool { name == Self.defaultName }

  /// Decides the sound. An empty name counts as absent.
  ///
  /// - Parameters:
  ///   - announcement: The name of the announcement's clip; nil if there is none.
  ///   - tone: The chosen tone.
  ///   - payload: The sound that the push names (`aps.sound`, or its `name`); nil if it names none. The file is not
  ///     checked, because it may be in the app's bundle or in the app's own container. An extension cannot see that
  ///     container.
  public init(announcement: String?, tone: Tone, payload: String?) {
    if let announcement, !announcement.isEmpty {
      self.init(name: announcement, rule: .announcementClip, remark: nil)
      return
    }
    let remark: Remark?
    switch tone {
    case .chosen(let name):
      self.init(name: name, rule: .chosenTone, remark: nil)
      return
    case .notChosen: remark = nil
    case .missing: remark = .toneMissing
    case .unreadable: remark = .preferenceUnreadable
    }
    if let payload, !payload.isEmpty {
      self.init(name: payload, rule: .payloadSound, remark: remark)
    } else {
      self.init(name: Self.defaultName, rule: .defaultSound, remark: remark)
    }
  }

  private init(name: String, rule: Rule, remark: Remark?) {
    self.name = name
    self.rule = rule
    self.remark = remark
  }
}
