// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Ledger

/// The query of `GET /v1/announcements`: which announcements of the account a page lists.
struct AnnouncementSearch: Sendable {
  /// The maximum number of stored rows that are read for one page. A search that finds little in them returns a short
  /// page, and the client continues from its `next`.
  static let mostRows = 2_000
  /// The longest text to search for, in Unicode scalars.
  static let longestText = 100

  /// The names of the query's parameters.
  static let parameters = ["limit", "before", "state", "from", "to", "search"]

  private var filter = Ledger.AnnouncementFilter()
  private var text: FoldedText?
  private var cursor: Ledger.AnnouncementCursor?
  private var limit = 50

  /// - Throws: ``Problem`` that names a query item whose value is not valid.
  init(_ call: Call) throws(Problem) {
    if let number = try call.number("limit", in: 1...200) { limit = number }
    if let text = call.query("before") {
      guard let cursor = Ledger.AnnouncementCursor(text) else {
        throw Self.invalid("before: is not a cursor; give the value of next from the page before.")
      }
      self.cursor = cursor
    }
    if let text = call.query("state") { filter.states = try Self.states(text) }
    filter.from = try Self.time("from", in: call)
    filter.to = try Self.time("to", in: call)
    if let text = call.query("search"), !text.isEmpty {
      guard text.unicodeScalars.count <= Self.longestText else {
        throw Self.invalid("search: is longer than \(Self.longestText) characters; give a shorter text.")
      }
      self.text = FoldedText(text)
    }
  }

  private static func states(_ text: String) throws(Problem) -> Set<Ledger.AnnouncementFilter.State> {
    var states: Set<Ledger.AnnouncementFilter.State> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let state = Ledger.AnnouncementFilter.State(rawValue: String(name)) else {
        let all = Ledger.AnnouncementFilter.State.allCases.map(\.rawValue).joined(separator: ", ")
        throw invalid("state: has an unknown state; give one or more of \(all), separated by commas.")
      }
      states.insert(state)
    }
    return states
  }

  private static func time(_ name: String, in call: Call) throws(Problem) -> Date? {
    guard let text = call.query(name) else { return nil }
    guard let time = Timestamp.date(text) else {
      throw invalid("\(name): is not a time; give an RFC 3339 time such as 2026-11-20T20:23:58Z.")
    }
    return time
  }

  private static func invalid(_ detail: String) -> Problem { Problem(.unprocessableContent, "field_invalid", detail) }

  /// A page of announcements, newest first.
  struct Page: Sendable {
    var announcements: [Ledger.Announcement] = []
    /// The cursor of the next page; nil if there are no older announcements.
    var next: Ledger.AnnouncementCursor?
  }

  /// Returns the page. The ledger is read in parts, so that other readers need not wait for a long search.
  func page(of ledger: Ledger, account: String) async throws -> Page {
    var page = Page(next: cursor)
    var rows = 0
    repeat {
      let part = try await ledger.announcements(
        account: account, matching: filter, before: page.next,
        limit: text == nil ? limit - page.announcements.count : 200)
      rows += part.rowCount
      page.next = part.next
      for (announcement, place) in zip(part.announcements, part.cursors) where matches(announcement) {
        page.announcements.append(announcement)
        guard page.announcements.count == limit else { continue }
        // The rest of the part belongs to the next page.
        if place != part.cursors.last { page.next = place }
        return page
      }
    } while page.next != nil && rows < Self.mostRows
    return page
  }

  private struct Words: Decodable { var text: String? }

  private func matches(_ announcement: Ledger.Announcement) -> Bool {
    guard let text else { return true }
    if FoldedText(announcement.id).contains(text) { return true }
    guard let report = announcement.answer?.report,
      let words = (try? JSONDecoder().decode(Words.self, from: report))?.text
    else { return false }
    return FoldedText(words).contains(text)
  }
}

/// A text in a form in which letter case and the encoding of accents make no difference.
struct FoldedText: Sendable, Hashable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.lowercased().precomposedStringWithCanonicalMapping.utf8) }

  /// Returns whether the text occurs anywhere in this one, even within a syllable, as in Devanagari and Hangul.
  func contains(_ other: FoldedText) -> Bool { bytes.contains(other.bytes) }
}
