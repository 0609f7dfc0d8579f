// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import ConcurrencySupport
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import Playback
import ServiceAccess
import SoundFiles
import TextFormats

/// The routes of `/v1/announcements`. Repetitions of a request do not repeat the announcement.
struct AnnouncementRoutes: Sendable {
  static let path = "/v1/announcements"
  static let largestBody = PayloadDecoder.largestBytes

  typealias Fingerprint = RepeatedAnswers.Fingerprint

  let service: AnnouncementService
  let ledger: any Ledger.Store
  let clips: Clips
  let library: Library
  let urls: ClipURLs
  let settings: ServiceSettings
  let groups: AppGroups
  let keys: KeyRing
  let batches: Batches
  let answers = RepeatedAnswers()

  var routes: [Route] {
    [
      .post(Self.path, .key(.announce), isOnLoop: true, post),
      .post("/v1/previews", .key(.announce), preview),
      .get(Self.path, .key(.read), query: AnnouncementSearch.parameters, isLong: true, list),
      .get("/v1/announcements/summary", .key(.read), query: SummaryQuery.parameters, isLong: true, summary),
      .get("/v1/announcements/{id}", .key(.read), isLong: true, get),
      .delete("/v1/announcements/{id}", .key(.announce), remove),
    ]
  }

  // MARK: Creating announcements

  private func post(_ call: Call) async throws -> Response {
    let sender = try call.sender
    try call.requireMediaType("application/json")
    let key = try call.header(.idempotencyKey).map(Self.idempotencyKey)
    let body = try await call.body(upTo: Self.largestBody)
    if !keys.isRemembered(sender) { try await keys.requireInForce(sender) }
    let fingerprint = Fingerprint(account: sender.account, key: key, bodyDigest: Data(SHA256.hash(data: body)))
    // A strict request is always parsed, because the first request with this body may not have been strict.
    if !call.isStrict, let known = answers.value(for: fingerprint) {
      // The response from memory is used only if the client prefers JSON. Otherwise the field `Accept` could be refused
      // in the first request but not in the second.
      if Accept(call).wantsJSONFirst { return try answer(.ok, known, sound: nil) }
    }
    let submission = Submission(
      account: sender.account, defaults: sender.defaults, body: body, bodyDigest: fingerprint.bodyDigest, key: key,
      unknownKeys: call.unknownKeys, authority: call.authority)
    return try await withTaskExecutorPreference(WaitingThreads.shared) {
      try await post(submission, fingerprint, call)
    }
  }

  /// Accepts an announcement that is not in memory.
  private func post(_ submission: Submission, _ fingerprint: Fingerprint, _ call: Call) async throws -> Response {
    let order = try service.order(submission)
    let wantsSound = try Accept(call).wantsSound(of: order.options.format.container)
    // A text without an id and without a key is a new announcement each time.
    let isRemembered = submission.key != nil || order.request.id != nil
    let accepted = try await service.accept(order) { accepted in
      if isRemembered { answers.insert(RepeatedAnswers.Answer(accepted), for: fingerprint) }
    }
    let sound = wantsSound ? try await sound(of: accepted, order) : nil
    let response = try answer(accepted.isNew ? .created : .ok, RepeatedAnswers.Answer(accepted), sound: sound)
    return Preference.applied(to: response, of: call)
  }

  /// Returns the clip of an announcement. A clip that was removed from its folder is made again. The new clip has the
  /// same name, unless a speech server speaks it.
  private func sound(of accepted: AnnouncementService.Accepted, _ order: AnnouncementOrder) async throws -> Clips.File {
    if let clip = accepted.clip, let file = try await clips.file(named: clip.name) { return file }
    return try await clips.make(
      order.request.announcement, options: order.options, group: order.group, for: order.submission.account
    ).file
  }

  private func answer(
    _ status: HTTPResponse.Status, _ remembered: RepeatedAnswers.Answer, sound: Clips.File?
  ) throws -> Response {
    guard let sound else {
      return Response(status: status, headers: remembered.fields, body: ResponseBody(byteBuffer: remembered.report))
    }
    var response = Self.response(status, sound: sound)
    response.headers[.location] = remembered.location
    response.headers[.announcementID] = Self.percentEncoded(remembered.id)
    return response
  }

  /// Returns a response with the bytes of a clip in place of its report.
  static func response(_ status: HTTPResponse.Status, sound: Clips.File) -> Response {
    Response(
      status: status,
      headers: [.contentType: sound.mediaType, .cacheControl: "no-store", .eTag: sound.etag],
      body: ResponseBody(byteBuffer: sound.bytes))
  }

  /// Returns an id in a form that is valid in a path and in a header field. The id itself may be any text.
  static func percentEncoded(_ id: String) -> String {
    id.utf8.allSatisfy(isUnreserved) ? id : id.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// The unreserved characters of RFC 3986, section 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Returns the idempotency key in the value of the field `Idempotency-Key`. The draft requires a string in quotation
  /// marks (draft-ietf-httpapi-idempotency-key-header-07, section 2.1), but most clients send the key without them.
  static func idempotencyKey(_ field: String) throws(Problem) -> String {
    var key = field.trimmingCharacters(in: .whitespaces)
    if key.utf8.count >= 2, key.hasPrefix("\""), key.hasSuffix("\"") { key = String(key.dropFirst().dropLast()) }
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw Problem(
        .badRequest, "idempotency_key_invalid", "Idempotency-Key: must have 1 to 255 visible ASCII characters.")
    }
    return key
  }

  // MARK: Reading announcements

  private func get(_ call: Call) async throws -> Response {
    let sender = try call.sender
    guard let known = try await ledger.announcement(account: sender.account, id: call.parameter) else {
      throw Problem.notFound("The account has no announcement with this id.")
    }
    let pushes = try await ledger.pushes(account: known.account, announcement: known.id)
    return ServiceJSON.response(buffer: ByteBuffer(bytes: try described(known, pushes, for: call).bytes))
  }

  private func list(_ call: Call) async throws -> Response {
    let page = try await AnnouncementSearch(call).page(of: ledger, account: try call.sender.account)
    var bytes = Data("{\"announcements\":[".utf8)
    for (index, listed) in page.announcements.enumerated() {
      if index > 0 { bytes += Data(",".utf8) }
      var object = try described(listed.announcement, listed.pushes, for: call)
      // The marks of the words would be a third of a page, and no client draws the waveforms of a list.
      object.remove("marks")
      bytes += object.bytes
    }
    bytes += Data("],\"next\":".utf8) + (try ReportJSON.data(of: page.next?.description))
    return ServiceJSON.response(buffer: ByteBuffer(bytes: bytes + Data("}".utf8)))
  }

  /// The data of an announcement besides its report.
  private struct Stored: Encodable {
    @ExplicitNull var acceptedAt: Date?
    /// The kind of the payment, or `text`; null if an earlier version accepted the announcement.
    @ExplicitNull var kind: String?
    @ExplicitNull var payer: String?
    @ExplicitNull var channel: String?
    @ExplicitNull var note: String?
    @ExplicitNull var occurredAt: Date?
    @ExplicitNull var sequence: Int64?
    /// The id of the payment that a refund pays back.
    @ExplicitNull var refundOf: String?
    var delivery: Delivery

    init(_ known: Ledger.Announcement, _ delivery: Delivery) {
      let decision = known.decision
      acceptedAt = decision?.acceptedAt ?? known.entry?.acceptedAt ?? known.answer?.createdAt
      (kind, payer, channel, note) = (decision?.kind, decision?.payer, decision?.channel, decision?.note)
      (occurredAt, sequence) = (decision?.occurredAt, decision?.sequence ?? known.entry?.sequence)
      refundOf = decision?.refundOf
      self.delivery = delivery
    }

    enum CodingKeys: String, CodingKey {
      case kind, payer, channel, note, sequence, delivery
      case acceptedAt = "accepted_at"
      case occurredAt = "occurred_at"
      case refundOf = "refund_of"
    }
  }

  private struct Delivery: Encodable {
    struct Clip: Encodable { var state = "rendered" }
    struct Play: Encodable {
      var state: String
      var number: Int64
      var lane: String
      @ExplicitNull var heardMilliseconds: Int?
      var acceptedAt: Date
      @ExplicitNull var finishedAt: Date?
      /// The code of the failure, if playing failed.
      @ExplicitNull var code: String?
      /// The clip that is heard. It differs from the report's clip if both the file and the voice of the report's clip
      /// were gone.
      @ExplicitNull var clip: String?

      enum CodingKeys: String, CodingKey {
        case state, number, lane, code, clip
        case heardMilliseconds = "heard_ms"
        case acceptedAt = "accepted_at"
        case finishedAt = "finished_at"
      }
    }
    @ExplicitNull var clip: Clip?
    @ExplicitNull var play: Play?
    /// The outcome of each push; null if the announcement was not pushed.
    @ExplicitNull var push: [Push]?

    struct Push: Encodable {
      var device: String
      var state: String
      /// The latest reason that APNs or the service gave.
      @ExplicitNull var reason: String?
      @ExplicitNull var sequence: Int64?
      var apnsID: String
      var attempts: Int
      var acceptedAt: Date
      @ExplicitNull var finishedAt: Date?
      /// The time at which the phone handed the notification over to iOS, by the phone's own report.
      @ExplicitNull var handedOverAt: Date?

      init(_ push: Ledger.Push) {
        (device, state, reason, sequence) = (push.device, push.state.rawValue, push.reason, push.sequence)
        (apnsID, attempts) = (push.id.uuidString.lowercased(), push.attempts)
        (acceptedAt, finishedAt, handedOverAt) = (push.createdAt, push.finishedAt, push.handedOverAt)
      }

      enum CodingKeys: String, CodingKey {
        case device, state, reason, sequence, attempts
        case apnsID = "apns_id"
        case acceptedAt = "accepted_at"
        case finishedAt = "finished_at"
        case handedOverAt = "handed_over_at"
      }
    }
  }

  /// Returns the report of an announcement as in its first response, with a newly signed URL of its clip. After the
  /// report come the stored data of the announcement and the state of its delivery.
  private func described(
    _ known: Ledger.Announcement, _ pushes: [Ledger.Push], for call: Call
  ) throws -> EncodedObject {
    let play = known.entry.map { entry in
      Delivery.Play(
        state: entry.state.rawValue, number: entry.number, lane: entry.lane, heardMilliseconds: entry.heardMilliseconds,
        acceptedAt: entry.acceptedAt, finishedAt: entry.finishedAt, code: entry.detail["code"], clip: entry.clip)
    }
    let delivery = Delivery(
      clip: known.answer.map { _ in Delivery.Clip() }, play: play,
      push: pushes.isEmpty ? nil : pushes.map(Delivery.Push.init))
    let report = try known.answer?.report ?? ReportJSON.data(of: UnknownReport(known.id, known.decision))
    var object = try EncodedObject(report)
    if let name = known.answer?.clip?.name {
      object.replace("url", of: "clip", with: try urls.url(ofClip: name, authority: call.authority))
    }
    object.add(try EncodedObject(try ReportJSON.data(of: Stored(known, delivery))))
    return object
  }

  /// The report of an announcement whose response was pruned. Nothing is known about the file of its clip.
  private struct UnknownReport: Encodable {
    var id: String
    @ExplicitNull var text: String?
    @ExplicitNull var locale: String?
    @ExplicitNull var method: String?
    @ExplicitNull var voice: String?
    @ExplicitNull var reproducible: Bool? = nil
    @ExplicitNull var fallback: String? = nil
    @ExplicitNull var amount: Amount?
    @ExplicitNull var clip: String? = nil
    @ExplicitNull var loudnessLUFS: Double?
    var marks: [String] = []
    var shortened: [String] = []
    var unspoken: [String] = []
    var warnings: [String]
    @ExplicitNull var cached: Bool? = nil

    struct Amount: Encodable {
      var currency: String
      var value: String
    }

    init(_ id: String, _ decision: Decision?) {
      self.id = id
      (text, locale, method, voice) = (decision?.text, decision?.locale, decision?.method, decision?.voice)
      amount = decision?.amount.map { Amount(currency: $0.currency, value: $0.value) }
      (loudnessLUFS, warnings) = (decision?.loudnessLUFS, decision?.warnings ?? [])
    }

    enum CodingKeys: String, CodingKey {
      case id, text, locale, method, voice, reproducible, fallback, amount, clip, marks, shortened, unspoken, warnings
      case cached
      case loudnessLUFS = "loudness_lufs"
    }
  }
}
