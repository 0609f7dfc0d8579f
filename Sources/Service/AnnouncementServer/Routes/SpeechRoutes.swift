// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceAccess
import SoundFiles
import SpeechServers
import VoicePacks

/// The route `POST /v1/audio/speech`, in the shape of OpenAI's call. A program that already uses OpenAI's call gets
/// Crier's words for numbers, sums and dates.
///
/// Nothing is announced, stored or published: the answer is the only copy of the sound. The sound counts towards the
/// account's limits like the clip of an announcement.
struct SpeechRoutes: Sendable {
  let announcer: Announcer
  let clips: Clips
  /// The announcer's voice packs.
  let shelf: VoicePackShelf
  let settings: ServiceSettings
  let keys: KeyRing

  var routes: [Route] { [.post("/v1/audio/speech", .key(.announce), speak)] }

  /// Answers with the sound of the text. The field `Accept` is not evaluated, because `response_format` names the media
  /// type, and OpenAI's own client accepts `application/octet-stream` only.
  private func speak(_ call: Call) async throws -> Response {
    let sender = try call.sender
    try call.requireMediaType("application/json")
    let body = try await call.body(upTo: PayloadDecoder.largestBytes)
    try await keys.requireInForce(sender)
    do {
      let request = try SpeechRequest(body)
      let order = try SpeechOrder(
        request, defaults: sender.defaults, base: RenderOptions(defaultLocale: settings.locale),
        books: announcer.phraseBooks, voices: voices(named: request.voice))
      let sound = try await clips.unpublished(order.announcement, options: order.options, for: sender.account)
      return Response(
        status: .ok, headers: [.contentType: Self.mediaType(of: request.format), .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: try request.format.encode(sound.waveform))))
    } catch {
      throw Self.fault(error)
    }
  }

  /// Returns the pack or the speech server with this id, if there is one.
  private func voices(named id: String?) -> NamedVoices {
    var voices = NamedVoices()
    guard let id else { return voices }
    if shelf.ids.contains(id) { voices.packs = [id: (try? shelf.manifest(id: id))?.locale] }
    if let server = announcer.speechServers.voice(named: id)?.server { voices.servers = [id: server] }
    return voices
  }

  static func mediaType(of format: SpokenFormat) -> String {
    switch format {
    case .mp3: "audio/mpeg"
    case .flac: "audio/flac"
    case .wav: "audio/wav"
    case .pcm: "audio/pcm"
    }
  }

  /// Returns the error as the sender understands it: with the name of the key that it sent, and with the status 400 for
  /// a request that must be corrected. OpenAI uses 400 for all of these.
  static func fault(_ error: any Error) -> any Error {
    var named = error
    if var fault = error as? AnnouncementError, fault.subject == "text" {
      fault.subject = "input"
      named = fault
    }
    if var fault = error as? AnnouncerError, fault.subject == "text" {
      fault.subject = "input"
      named = fault
    }
    var problem = Problem(named)
    guard problem.status == .unprocessableContent else { return error }
    problem.status = .badRequest
    return problem
  }
}
