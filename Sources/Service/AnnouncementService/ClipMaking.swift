// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import Announcer

/// The type that makes and keeps the clips of announcements.
package protocol ClipMaking: Sendable {
  /// Returns the report of a clip, and makes the clip if it does not exist.
  ///
  /// - Parameter account: The account to which a new clip is charged. An existing clip costs nothing.
  /// - Returns: The report, without the id of an announcement, and whether the clip existed.
  /// - Throws: The errors of `Announcer.render(_:options:into:permit:)`, and the refusal if the account may not have
  ///   another clip made.
  func made(
    _ announcement: Announcement, options: RenderOptions, group: String, for account: String
  ) async throws -> (report: ClipReport, isCached: Bool)

  /// Performs work during which none of these clips is removed.
  ///
  /// - Returns: The result of the work; nil if one of the clips is gone, and the work was not begun.
  func keeping<Value: Sendable>(
    _ clips: [ClipReport], _ work: @Sendable () async throws -> Value
  ) async throws -> Value?

  /// Returns the URL by which a clip is fetched.
  ///
  /// - Parameter authority: The host and port by which the caller reaches the service; nil if it is not known.
  func url(ofClip name: String, authority: String?) throws -> String
}
