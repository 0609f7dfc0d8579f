// SPDX-License-Identifier: Apache-2.0

/// A sound that is ready to be played.
public struct PreparedSound: Sendable, Hashable {
  /// The amount of information in a sound. A sound with a later case says more.
  public enum Quality: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// The chosen tone, the sound that the push names, or the default sound.
    case tone
    /// A clip that says what happened, without the amount.
    case fixedPhrase
    /// The announcement with its exact amount.
    case announcement

    public static func < (left: Quality, right: Quality) -> Bool { left.rawValue < right.rawValue }
  }

  /// The file name, or `default` for the default sound of iOS.
  public var name: String
  public var quality: Quality
  /// The duration in ms.
  public var duration: Int64

  /// The assumed duration in ms of a sound whose length the extension cannot read, such as the system's sounds.
  static let assumedDuration: Int64 = 2_000
}

/// The search for the sound of an announcement: its steps in order, and the best sound so far. It is a value without
/// access to files or a network.
///
/// If the time runs out, the best sound so far is used. The announcement is better than the fixed phrase, and the fixed
/// phrase is better than the chosen tone.
public struct SoundSearch: Sendable, Hashable {
  /// A place where the sound may be found.
  public enum Step: Sendable, Hashable, CaseIterable {
    /// The chosen tone, the sound that the push names, or the default sound. This step always succeeds.
    case tone
    /// The fixed phrase in the group container.
    case fixedPhrase
    /// The clip of the service, if the group container has it already.
    case stored
    /// A clip that is joined on the phone from a voice pack, without a network.
    case stitched
    /// The clip of the service, downloaded by its URL.
    case downloaded
    /// A sound from elsewhere whose URL is in the push.
    case soundURL
  }

  private var rest: ArraySlice<Step>
  /// The best sound so far; nil before the first step.
  public private(set) var best: PreparedSound?

  /// - Parameters:
  ///   - hasClip: Whether the push names a clip.
  ///   - hasTokens: Whether the push has tokens for a voice pack.
  ///   - hasKind: Whether the push says what happened, such as `received`.
  ///   - hasSoundURL: Whether the push has the URL of a sound from elsewhere.
  public init(hasClip: Bool, hasTokens: Bool, hasKind: Bool, hasSoundURL: Bool) {
    var steps: [Step] = [.tone]
    if hasKind { steps.append(.fixedPhrase) }
    if hasClip { steps.append(.stored) }
    if hasTokens { steps.append(.stitched) }
    if hasClip { steps.append(.downloaded) }
    if hasSoundURL { steps.append(.soundURL) }
    rest = steps[...]
  }

  /// The next step; nil if the best sound is known.
  public var next: Step? { best?.quality == .announcement ? nil : rest.first }

  /// Ends a step.
  ///
  /// - Parameter sound: The sound that the step found; nil if it found none.
  public mutating func end(_ step: Step, with sound: PreparedSound?) {
    guard rest.first == step else { return }
    rest.removeFirst()
    guard let sound, best.map({ $0.quality < sound.quality }) ?? true else { return }
    best = sound
  }
}
