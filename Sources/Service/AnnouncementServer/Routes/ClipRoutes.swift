// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Ledger
import ServiceAccess

/// The route `GET /v1/clips/{name}`.
struct ClipRoutes: Sendable {
  let clips: Clips
  let ledger: any Ledger.PushStore
  /// The clips that are made again; nil for a service that makes none.
  let remade: RemadeClips?

  var routes: [Route] { [.get("/v1/clips/{name}", .keyOrSignedURL(.read), isOnLoop: true, get)] }

  private func get(_ call: Call) async throws -> Response {
    guard try await isVisible(to: call), let file = try await file(for: call) else {
      throw Problem.notFound("There is no clip with this name. It may have been removed.")
    }
    return try FileAnswer(file: file).response(to: call.request)
  }

  /// Returns a clip's file. A clip that is not here is made again, unless the request has `Cache-Control: only-if-cached`
  /// (RFC 9111, section 5.2.1.7), with which a proxy asks all nodes for the file first.
  private func file(for call: Call) async throws -> Clips.File? {
    if let file = try await clips.file(named: call.parameter) { return file }
    return call.wantsStoredOnly ? nil : try await remade?.file(named: call.parameter)
  }

  /// Returns whether the sender may know of the clip. A device's own key fetches only the clips that were pushed to the
  /// device. It gets 404 for any other clip, as for a clip that does not exist.
  private func isVisible(to call: Call) async throws -> Bool {
    guard let caller = call.caller, let device = caller.device else { return true }
    return try await ledger.wasPushed(clip: call.parameter, account: caller.account, device: device)
  }
}
