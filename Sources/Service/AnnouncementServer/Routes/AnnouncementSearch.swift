// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Ledger

/// The query of `GET /v1/announcements`: which announcements of the account a page lists.
struct AnnouncementSearch: Sendable {
  /// The maximum number of stored rows that are read for one page. A search that finds little in them returns a short
  /// page, and the client continues from its `next`.
  static let mostRows = 500
  /// The longest text to search for, in Unicode scalars.
  static let longestText = 100

  /// The names of the query's parameters.
  static let parameters = ["limit", "before", "state", "from", "to", "search"]

  private var filter = Ledger.AnnouncementFilter()
  private var cursor: Ledger.AnnouncementCursor?
  private var limit = 50

  /// - Throws: ``Problem`` that names a query item whose value is not valid.
  init(_ call: Call) throws(Problem) {
    if let number = try call.number("limit", in: 1...200) { limit = number }
    if let text = call.query("before") {
      guard let cursor = Ledger.AnnouncementCursor(text) else {
        throw Problem.fieldInvalid("before: is not a cursor; give the value of 'next' from the page before.")
      }
      self.cursor = cursor
    }
    if let text = call.query("state") { filter.states = try Self.states(text) }
    filter.from = try Self.time("from", call.query)
    filter.to = try Self.time("to", call.query)
    if let text = call.query("search"), !text.isEmpty {
      guard text.unicodeScalars.count <= Self.longestText else {
        throw Problem.fieldInvalid("search: is longer than \(Self.longestText) characters; give a shorter text.")
      }
      filter.text = SearchText(text)
    }
  }

  private static func states(_ text: String) throws(Problem) -> Set<Ledger.AnnouncementFilter.State> {
    var states: Set<Ledger.AnnouncementFilter.State> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let state = Ledger.AnnouncementFilter.State(rawValue: String(name)) else {
        let all = Ledger.AnnouncementFilter.State.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem.fieldInvalid("state: has an unknown state; give one or more of \(all), separated by commas.")
      }
      states.insert(state)
    }
    return states
  }

  /// Returns the time in a query.
  static func time(_ name: String, _ query: (String) -> String?) throws(Problem) -> Date? {
    guard let text = query(name) else { return nil }
    guard let time = Timestamp.date(text) else {
      throw Problem.fieldInvalid("\(name): is not a time; give an RFC 3339 time such as 2026-11-20T20:23:58Z.")
    }
    return time
  }

  /// A page of announcements, newest first.
  struct Page: Sendable {
    var announcements: [Ledger.ListedAnnouncement] = []
    /// The cursor of the next page; nil if there are no older announcements.
    var next: Ledger.AnnouncementCursor?
  }

  /// Returns the page. The ledger is read in parts, so that other readers need not wait for a long search.
  func page(of ledger: any Ledger.AcceptanceStore, account: String) async throws -> Page {
    var page = Page(next: cursor)
    var (rows, pushes) = (0, 0)
    repeat {
      let part = try await ledger.announcements(
        account: account, matching: filter, before: page.next, limit: limit - page.announcements.count)
      rows += part.rowCount
      pushes += part.announcements.reduce(0) { $0 + $1.pushes.count }
      page.announcements += part.announcements
      page.next = part.next
    } while page.next != nil && page.announcements.count < limit && rows < Self.mostRows
      && pushes < Ledger.mostListedPushes
    return page
  }
}
