// SPDX-License-Identifier: Apache-2.0

extension SoundLibrary {
  /// Returns whether a clip can be published under this name; see ``publish(_:as:)`` for the rule.
  public static func isClipName(_ name: String) -> Bool { (try? check(name)) != nil }
}
