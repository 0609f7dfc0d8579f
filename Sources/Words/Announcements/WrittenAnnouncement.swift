// SPDX-License-Identifier: Apache-2.0

/// An announcement in the words of a phrase book. Only a ``ScriptWriter`` makes it, so the words are those of its book,
/// except for the names, notes and texts of the announcement.
package struct WrittenAnnouncement: Sendable, Hashable {
  package let announcement: Announcement
  package let script: Script
  /// Whether the book has the words of the channel. It is false if there is no channel.
  package let hasBookChannel: Bool

  fileprivate init(_ announcement: Announcement, _ script: Script, _ book: PhraseBook) {
    (self.announcement, self.script) = (announcement, script)
    if case .payment(let payment) = announcement, let channel = payment.channel {
      hasBookChannel = book.content.channels[channel.lowercased()] != nil
    } else {
      hasBookChannel = false
    }
  }
}

extension ScriptWriter {
  /// Writes an announcement; see ``writing(of:shortenings:)``.
  package func written(
    _ announcement: Announcement, shortenings: Set<Shortening> = []
  ) throws(AnnouncementError) -> WrittenAnnouncement {
    WrittenAnnouncement(announcement, try script(for: announcement, shortenings: shortenings), book)
  }
}
