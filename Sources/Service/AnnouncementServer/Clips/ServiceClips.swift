// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer

/// The service's clips, for the acceptance of announcements.
struct ServiceClips: ClipMaking {
  let clips: Clips
  let urls: ClipURLs

  func made(
    _ announcement: Announcement, options: RenderOptions, group: String, for account: String
  ) async throws -> (report: ClipReport, isCached: Bool) {
    let made = try await clips.make(announcement, options: options, group: group, for: account)
    return (made.report, made.isCached)
  }

  func keeping<Value: Sendable>(
    _ reports: [ClipReport], _ work: @Sendable () async throws -> Value
  ) async throws -> Value? {
    try await clips.turns.share(Set(reports.map(\.clip.name))) {
      guard reports.allSatisfy(Clips.isThere) else { return nil }
      return try await work()
    }
  }

  func url(ofClip name: String, authority: String?) throws -> String {
    try urls.url(ofClip: name, authority: authority)
  }
}
