// SPDX-License-Identifier: Apache-2.0

/// A clip in the folder of an app group.
public struct PublishedClip: Sendable, Hashable {
  /// The clip's file name, 1 to 255 bytes of UTF-8 without a zero byte.
  public var name: String
  /// The app group, 1 to 255 bytes of UTF-8 without a zero byte; nil when it is unknown.
  public var group: String?

  public init(name: String, group: String?) {
    self.name = name
    self.group = group
  }

  /// The rule that a value breaks; nil when the clip can be stored.
  package var brokenRule: String? {
    isText(name, 1...255) && isText(group, 1...255)
      ? nil : "clip (a name and a group, each of 1 to 255 bytes without NUL)"
  }
}
