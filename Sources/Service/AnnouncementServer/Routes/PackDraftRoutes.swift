// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import ServiceAccess
import VoicePackMaking
import VoicePacks

/// The routes with which a new voice pack is made, and removed.
struct PackDraftRoutes: Sendable {
  /// The maximum size of a long recording, in bytes: eleven minutes at 48 kHz with one channel of 16 bits.
  static let largestRecording = 64 << 20

  let clips: PackClips
  let shelf: VoicePackShelf
  /// Chooses the pack that speaks a locale. These routes only call it without an id, which forgets the choice.
  let choosePack: @Sendable (_ id: String?, _ locale: String) throws -> Void
  let keys: KeyRing
  let largeBodies: LargeBodies
  let administration: AdministrationLog
  let work: AccountWork

  var routes: [Route] {
    [
      .post("/v1/packs", .key(.operate), create),
      .delete("/v1/packs/{id}", .key(.operate), remove),
      .get("/v1/packs/{id}/rows", .key(.read)) { call in
        try ServiceJSON.response(.ok, try await clips.rows(of: call.parameter))
      },
      .post("/v1/packs/{id}/recording", .key(.operate), query: ["accept"], importRecording),
    ]
  }

  private func create(_ call: Call) async throws -> Response {
    let fields = try await JSONFields.read(call, keys: ["id", "locale", "speaker", "licence"], keys)
    let remedy = "give 1 to 64 ASCII letters, digits, -, _ and ., not beginning with a period"
    let id = try fields.required("id", try fields.string("id", remedy), remedy)
    guard PackManifest.isID(id) else { throw fields.invalid("id", remedy) }
    let locales = "give a locale that GET /v1/locales lists"
    let locale = try fields.required("locale", try fields.string("locale", locales), locales)
    let draft = try await clips.create(
      PackFacts(
        id: id, locale: locale, speaker: try text("speaker", fields) ?? "not named",
        licence: try text("licence", fields) ?? "not stated"))
    await administration.record(.packCreated, call, subject: id)
    return try ServiceJSON.response(.created, draft)
  }

  private func text(_ key: String, _ fields: JSONFields) throws(Problem) -> String? {
    let remedy = "give a text of 1 to 255 bytes without control characters"
    return try fields.text(key, remedy) { text in text.isPlain() && text.contains { !$0.isWhitespace } }
  }

  private func remove(_ call: Call) async throws -> Response {
    let id = call.parameter
    try await clips.remove(id)
    if !shelf.ids.contains(id) {
      // A pack of the installation may have the same id, and then the choice stays.
      for choice in shelf.choices where choice.id == id { try choosePack(nil, choice.locale) }
      shelf.look()
    }
    await administration.record(.packRemoved, call, subject: id)
    return try ServiceJSON.removed(id)
  }

  private struct Imported: Encodable {
    var pack: PackClips.DraftLine
    var warnings: [String]
  }

  private func importRecording(_ call: Call) async throws -> Response {
    let sender = try call.sender
    try call.requireSound()
    let accepts = try call.flag("accept")
    let body = try await largeBodies.read(call, of: sender.account, upTo: Self.largestRecording)
    try await keys.requireInForce(sender)
    let (pack, warnings) = try await clips.importRecording(
      body, into: call.parameter, accepting: accepts, charging: work.permit(sender.account))
    await administration.record(.packRecorded, call, subject: call.parameter)
    return try ServiceJSON.response(.ok, Imported(pack: pack, warnings: warnings))
  }
}
