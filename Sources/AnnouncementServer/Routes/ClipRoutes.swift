// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ServiceAccess

/// The route `GET /v1/clips/{name}`.
struct ClipRoutes: Sendable {
  let clips: Clips

  var routes: [Route] { [.get("/v1/clips/{name}", .keyOrSignedURL(.read), get)] }

  private func get(_ call: Call) async throws -> Response {
    guard let file = try await clips.file(named: call.parameter) else {
      throw Problem(.notFound, "not_found", "There is no clip with this name. It may have been removed.")
    }
    return try FileAnswer(file: file).response(to: call.request)
  }
}
