// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import ServiceAccess
import VoicePackMaking

/// The routes of `/v1/packs/{id}/clips` and `/v1/packs/{id}/marks`, with which people check the clips of a voice pack.
struct PackClipRoutes: Sendable {
  /// The maximum size of a recording, in bytes.
  static let largestRecording = 4 << 20

  let clips: PackClips
  let keys: KeyRing
  let largeBodies: LargeBodies
  let administration: AdministrationLog
  /// The record of the accounts' work, to which recordings are charged.
  let work: AccountWork

  var routes: [Route] {
    [
      .get("/v1/packs/{id}/clips", .key(.read)) { call in
        ServiceJSON.response(buffer: try await clips.listing(call.parameter))
      },
      .get("/v1/packs/{id}/clips/{file}", .key(.read), sound),
      .put("/v1/packs/{id}/clips/{file}", .key(.operate), query: ["accept"], record),
      .put("/v1/packs/{id}/marks/{file}", .key(.operate), mark),
    ]
  }

  /// Returns whether a path belongs to a clip. Calls for clips may have larger bodies than other calls.
  static func isClip(_ path: String) -> Bool {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    return segments.count == 6 && segments[1] == "v1" && segments[2] == "packs" && segments[4] == "clips"
  }

  private func sound(_ call: Call) async throws -> Response {
    let (bytes, digest) = try await clips.bytes(call.parameter, of: call.parameters[0])
    var file = Clips.File(bytes: ByteBuffer(bytes: bytes), digest: digest, mediaType: "audio/wav")
    // The clip can be recorded again under the same name.
    file.fields[.cacheControl] = "no-cache"
    return try FileAnswer(file: file).response(to: call.request)
  }

  private func record(_ call: Call) async throws -> Response {
    let sender = try call.sender
    try call.requireMediaType("audio/wav")
    let accepts = try call.flag("accept")
    let body = try await largeBodies.read(call, of: sender.account, upTo: Self.largestRecording)
    try await keys.requireInForce(sender)
    let recorded = try await clips.record(
      call.parameter, of: call.parameters[0], from: body, accepting: accepts, charging: work.permit(sender.account))
    await administration.record(.packClipRecorded, call, subject: Self.subject(call))
    return try ServiceJSON.response(
      .ok, WithMembers(object: recorded.line, members: ["warnings": recorded.warnings]))
  }

  private func mark(_ call: Call) async throws -> Response {
    let fields = try await JSONFields.read(call, keys: ["is_marked"], keys)
    let remedy = "give true or false"
    let isMarked = try fields.required("is_marked", try fields.boolean("is_marked", remedy), remedy)
    let line = try await clips.mark(call.parameter, of: call.parameters[0], as: isMarked)
    await administration.record(isMarked ? .packClipMarked : .packClipUnmarked, call, subject: Self.subject(call))
    return try ServiceJSON.response(.ok, line)
  }

  private static func subject(_ call: Call) -> String { call.parameters.joined(separator: "/") }
}
