// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import ServiceAccess

/// The routes of `/v1/library`, with which phones keep a copy of the sounds: the list of changes, and the files.
///
/// A device's own key reads the library of its account and of its app group only. Every other key reads the library of
/// its account, in a group that the request may name.
struct LibraryRoutes: Sendable {
  let ledger: any Ledger.Store
  let library: Library
  let groups: AppGroups
  /// The clips that are made again; nil for a service that makes none.
  let remade: RemadeClips?

  var routes: [Route] {
    [
      .get("/v1/library/changes", .keyOrAnyDevice(.read), query: ["after", "limit", "group"], isLong: true, changes),
      .get("/v1/library/files/{sha256}", .keyOrAnyDevice(.read), query: ["group"], file),
    ]
  }

  /// Returns the app group whose library the sender reads.
  private func group(of call: Call) async throws -> String {
    let sender = try call.sender
    guard let id = sender.device else { return try groups.group(call.query("group"), sender.defaults) }
    guard call.query("group") == nil else {
      throw Problem.parameterInvalid("group: leave it out; a device's own key reads the library of its own group.")
    }
    // The device was removed after its key was looked up.
    guard let device = try await ledger.device(account: sender.account, id: id) else { throw KeyRing.unknown }
    return device.appGroup ?? groups.standard
  }

  // MARK: Changes

  private struct Page: Encodable {
    struct Change: Encodable {
      var kind: String
      var name: String
      var change: String
      /// The SHA-256 digest of the file; missing for a removed file.
      var sha256: String?
      var bytes: Int?
      var changedAt: Date

      // A page has up to 1,000 changes, and to derive the keys would take more than 10 ms.
      enum CodingKeys: String, CodingKey {
        case kind, name, change, sha256, bytes
        case changedAt = "changed_at"
      }

      init(_ change: LibraryChange) {
        (kind, name, self.change) = (change.kind.rawValue, change.name, change.change.rawValue)
        if change.change != .removed { (sha256, bytes) = (change.sha256, change.bytes) }
        changedAt = change.changedAt
      }
    }

    var changes: [Change]
    /// The value of `after` for the next page; missing if there are no more changes.
    var next: String?
    /// The value of `after` for a later request; missing if there is another page.
    var anchor: String?
  }

  private func changes(_ call: Call) async throws -> Response {
    let limit = try call.number("limit", in: 1...1_000) ?? 200
    var anchor: LibraryAnchor?
    if let text = call.query("after") {
      guard let known = LibraryAnchor(text) else {
        throw Problem.parameterInvalid(
          "after: is not an anchor; send the value of 'next' or 'anchor' from an earlier answer, unchanged.")
      }
      anchor = known
    }
    let group = try await group(of: call)
    let page = try await ledger.libraryChanges(
      account: try call.sender.account, group: group, after: anchor, limit: limit)
    guard let page else {
      throw Problem(
        .gone, "anchor_expired",
        "after: has expired, or belongs to another library. List everything again by a call without it.")
    }
    let text = page.anchor.description
    let answer = Page(
      changes: page.changes.map(Page.Change.init), next: page.isComplete ? nil : text,
      anchor: page.isComplete ? text : nil)
    return ServiceJSON.response(buffer: ByteBuffer(bytes: try ReportJSON.data(of: answer)))
  }

  // MARK: Files

  private func file(_ call: Call) async throws -> Response {
    let group = try await group(of: call)
    let account = try call.sender.account
    let remade = call.wantsStoredOnly ? nil : remade
    guard let file = try await library.file(call.parameter, account: account, group: group, remade: remade) else {
      throw Problem.notFound("The library has no file with this digest. It may have been removed.")
    }
    return try FileAnswer(file: file).response(to: call.request)
  }
}
