// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import Foundation
import HTTPTypes
import Hummingbird
import ServiceAccess
import SoundFiles

/// The route `POST /v1/previews`, which makes a clip without announcing anything.
extension AnnouncementRoutes {
  /// Makes the clip of a preview and returns its report, or the clip's bytes if the client prefers them. The ledger
  /// does not store the preview, so no list of announcements, no event and no repeated request shows it.
  func preview(_ call: Call) async throws -> Response {
    let sender = try call.sender
    try call.requireMediaType("application/json")
    let body = try await call.body(upTo: Self.largestBody)
    try await keys.requireInForce(sender)
    let request = try PayloadDecoder.previewRequest(body, unknownKeys: call.unknownKeys)
    let options = try RenderOptions(
      request.options, defaults: sender.defaults, base: RenderOptions(defaultLocale: settings.locale))
    let group = try groups.group(request.options.group, sender.defaults)
    let wantsSound = try Accept(call).wantsSound(of: options.format.container)
    let made = try await clips.make(request.announcement, options: options, group: group, for: sender.account)
    guard !wantsSound else { return Preference.applied(to: Self.response(.ok, sound: made.file), of: call) }
    var report = made.report
    report.id = request.id
    report.cached = made.isCached
    report.warnings = request.warnings + report.warnings
    report.clip.url = try urls.url(ofClip: report.clip.name, authority: call.authority)
    return Preference.applied(to: try ServiceJSON.response(.ok, report), of: call)
  }
}
