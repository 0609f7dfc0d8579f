// SPDX-License-Identifier: Apache-2.0

public import Ledger
public import WebhookMessages

// Calls of a ledger that leave out arguments which most tests do not need.

extension Ledger.AcceptanceStore {
  public func announcements(
    account: String, matching filter: Ledger.AnnouncementFilter = Ledger.AnnouncementFilter(), limit: Int = 50
  ) async throws(LedgerError) -> Ledger.AnnouncementPage {
    try await announcements(account: account, matching: filter, before: nil, limit: limit)
  }

  public func entry(id: String) async throws(LedgerError) -> Ledger.Entry? { try await entry(account: "", id: id) }

  public func recent(_ limit: Int = 50) async throws(LedgerError) -> [Ledger.Entry] {
    try await recent(limit, lane: nil)
  }
}

extension Ledger.StateStore {
  public func record(
    _ kind: Ledger.Event.Kind, lane: String, detail: [String: String] = [:], passing sequence: Int64? = nil
  ) async throws(LedgerError) {
    try await record(kind, lane: lane, number: nil, detail: detail, passing: sequence)
  }
}

extension Ledger.BatchStore {
  public func note(clips names: [String], ofBatch batch: String, account: String) async throws(LedgerError) {
    try await note(clips: names, ofBatch: batch, account: account, files: [])
  }
}

extension Ledger.DeviceStore {
  public func devices(account: String, limit: Int = 100) async throws(LedgerError) -> [Ledger.Device] {
    try await devices(account: account, after: "", limit: limit)
  }
}

extension Ledger.PushStore {
  @discardableResult
  public func finishPush(_ number: Int64, _ state: Ledger.Push.State) async throws(LedgerError) -> Bool {
    try await finishPush(number, state, reason: nil)
  }
}

extension Ledger.WebhookStore {
  @discardableResult
  public func tellAlarm(_ alarm: WebhookEvent.Kind, lane: String, hasBegun: Bool) async throws(LedgerError) -> Bool {
    try await tellAlarm(alarm, lane: lane, hasBegun: hasBegun, detail: [:])
  }

  public func webhooks(account: String, endpoint: String) async throws(LedgerError) -> [Ledger.Webhook] {
    try await webhooks(account: account, endpoint: endpoint, limit: 1000)
  }
}

extension Ledger.LibraryStore {
  @discardableResult
  public func setLibraryPacks(_ packs: [LibraryPack]) async throws(LedgerError) -> Bool {
    try await setLibraryPacks(packs, broken: [])
  }

  @discardableResult
  public func setLibraryTones(_ tones: [LibrarySound]) async throws(LedgerError) -> Bool {
    try await setLibraryTones(tones, unreadable: [])
  }

  public func libraryChanges(
    account: String, group: String, after anchor: LibraryAnchor? = nil
  ) async throws(LedgerError) -> LibraryPage? {
    try await libraryChanges(account: account, group: group, after: anchor, limit: 200)
  }
}
