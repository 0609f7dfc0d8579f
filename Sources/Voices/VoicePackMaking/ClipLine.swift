// SPDX-License-Identifier: Apache-2.0

/// A clip of a voice pack with its length and its mark, as `crier voices listen --json` prints it and as the service
/// returns it.
public struct ClipLine: Encodable, Sendable, Hashable {
  /// The name of the clip's file.
  public let file: String
  /// The names of the tokens: one, or several for a phrase.
  public let tokens: [String]
  /// The raw value of the clip's `ClipPosition`.
  public let position: String
  /// The recorded words.
  public let text: String
  /// The length in ms.
  public let durationMilliseconds: Int
  /// Whether a listener marked the clip as wrong.
  public let isMarked: Bool

  public init(
    file: String, tokens: [String], position: String, text: String, durationMilliseconds: Int, isMarked: Bool
  ) {
    self.file = file
    self.tokens = tokens
    self.position = position
    self.text = text
    self.durationMilliseconds = durationMilliseconds
    self.isMarked = isMarked
  }

  /// Creates the line of a listed clip.
  public init(_ clip: ListedClip, durationMilliseconds: Int, isMarked: Bool) {
    self.init(
      file: clip.file, tokens: clip.tokens, position: clip.position.rawValue, text: clip.text,
      durationMilliseconds: durationMilliseconds, isMarked: isMarked)
  }

  private enum CodingKeys: String, CodingKey {
    case file, tokens, position, text
    case durationMilliseconds = "duration_ms"
    case isMarked = "is_marked"
  }
}
