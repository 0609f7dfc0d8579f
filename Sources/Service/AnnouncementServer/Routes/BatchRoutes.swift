// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import AsyncAlgorithms
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import ServiceAccess
import ServiceLifecycle

/// The routes of `/v1/batches`, which render lists of announcements in advance.
struct BatchRoutes: Sendable {
  static let path = "/v1/batches"
  /// The maximum size of a list, in bytes. It is enough for about 200,000 rows.
  static let largestBody = 16 << 20
  /// The minimum interval between two events of a stream.
  static let pace: Duration = .milliseconds(250)
  /// The maximum number of streams for all accounts together.
  static let mostStreams = 100

  let batches: Batches
  let settings: ServiceSettings
  let keys: KeyRing
  let largeBodies: LargeBodies
  let groups: AppGroups
  let slots: AccountSlots
  let administration: AdministrationLog

  var routes: [Route] {
    [
      .post(
        Self.path, .key(.announce),
        query: ["method", "voice", "rate", "pack", "format", "encoding", "sample_rate", "group", "name"],
        post),
      .get(Self.path, .key(.read), query: ["limit"], list),
      .get("/v1/batches/{id}", .key(.read), get),
      .delete("/v1/batches/{id}", .key(.announce), cancel),
    ]
  }

  private func post(_ call: Call) async throws -> Response {
    let sender = try call.sender
    try call.requireMediaType("application/jsonl", "application/x-ndjson", "text/csv", "application/json")
    var requested = Batches.Requested(
      method: call.query("method"), voice: call.query("voice"), pack: call.query("pack"), format: call.query("format"),
      encoding: call.query("encoding"), group: call.query("group"), defaultLocale: sender.defaults.locale,
      defaultPack: sender.defaults.pack, defaultGroup: sender.defaults.group, isStrict: call.isStrict)
    let name = try name(call)
    requested.rate = try call.number("rate", in: RenderOptions.rates)
    requested.sampleRate = try call.number("sample_rate", in: RenderOptions.sampleRates)
    // Invalid options would make every row fail, so they are refused at once.
    _ = try RenderOptions(requested.options, defaults: requested.defaults)
    _ = try groups.group(requested.group, requested.defaults)
    try await batches.checkCapacity(for: sender.account)
    let body = try await largeBodies.read(call, of: sender.account, upTo: Self.largestBody)
    try await keys.requireInForce(sender)
    guard !body.isEmpty else {
      throw Problem(.unprocessableContent, "list_empty", "The list is empty. Send at least one row.")
    }
    let format: BatchRows.Format = call.mediaType == "text/csv" ? .csv : .jsonl
    if call.mediaType == "application/json", !Self.isArray(body) {
      throw Problem(
        .badRequest, "payload_malformed",
        "The list is not a JSON array. Write brackets around its objects, or send each of them on a line of its own as "
          + "application/jsonl.")
    }
    // A fault of the list's header, and a list without a row, are reported at once, too.
    try Self.checkBeginning(of: body, BatchRows(format: format, unknownKeys: call.unknownKeys))
    let status = try await batches.accept(
      body, named: name, format: format, account: sender.account, authority: call.authority,
      requested: requested)
    var response = try ServiceJSON.response(.accepted, status)
    response.headers[.location] = "/v1/batches/\(status.id)"
    return Preference.applied(to: response, of: call)
  }

  private static func isArray(_ body: Data) -> Bool {
    // The list may begin with a byte order mark.
    body.first { !" \t\r\n\u{FEFF}".utf8.contains($0) } == UInt8(ascii: "[")
  }

  /// Reads a list up to its first row.
  private static func checkBeginning(of body: Data, _ rows: BatchRows) throws(AnnouncementError) {
    var (rows, rest) = (rows, body[...])
    while !rest.isEmpty {
      rows.append([UInt8](rest.prefix(1 << 16)))
      rest = rest.dropFirst(1 << 16)
      if try rows.next() != nil { return }
    }
    rows.end()
    _ = try rows.next()
  }

  /// Returns the name of the list's file, if the sender gives it.
  private func name(_ call: Call) throws(Problem) -> String? {
    guard let name = call.query("name") else { return nil }
    guard name.isPlain() else {
      throw Problem.parameterInvalid("name: must have 1 to 255 bytes in UTF-8, without control characters.")
    }
    return name
  }

  private func list(_ call: Call) async throws -> Response {
    let limit = try call.number("limit", in: 1...200) ?? 20
    let statuses = try await batches.statuses(account: try call.sender.account, limit: limit)
    return try ServiceJSON.response(.ok, ["batches": statuses])
  }

  private func get(_ call: Call) async throws -> Response {
    let id = call.parameter
    let wanted = try Accept(call).require(
      "application/json", "text/event-stream", "application/jsonl", "application/x-ndjson")
    guard let status = try await batches.status(id, account: try call.sender.account) else { throw Self.unknown }
    switch wanted {
    case "application/json": return try ServiceJSON.response(.ok, status)
    case "text/event-stream": return try progress(call, id, try call.sender)
    default: return try await result(call, status, mediaType: wanted)
    }
  }

  private static let unknown = Problem.notFound("The account has no batch with this id. It may have been removed.")

  private func cancel(_ call: Call) async throws -> Response {
    guard let status = try await batches.cancel(call.parameter, account: call.sender.account) else {
      throw Self.unknown
    }
    await administration.record(.batchCancelled, call, subject: status.id)
    return try ServiceJSON.response(.ok, status)
  }

  private enum Item: Sendable {
    case status(Batches.Status)
    case beat
    /// The client has disconnected.
    case gone
  }

  private func progress(_ call: Call, _ id: String, _ sender: Caller) throws(Problem) -> Response {
    let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    guard call.request.method == .get else { return Response(status: .ok, headers: headers) }
    let slot = try slots.take(sender.account)
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { [batches, keys, settings] writer in
        defer { slot.free() }
        let items = merge(
          batches.progress(id, account: sender.account).map { Item.status($0) },
          AsyncTimerSequence(interval: .seconds(settings.heartbeat), clock: .continuous).map { _ in Item.beat },
          Connection.currentEnds().map { Item.gone })
        for await item in items.cancelOnGracefulShutdown() {
          if case .gone = item { break }
          // The stream ends when the sender's key is revoked or expires.
          guard try await keys.isInForce(sender) else { break }
          guard case .status(let status) = item else {
            try await writer.write(ByteBuffer(string: ServerSentEvent.heartbeat))
            continue
          }
          let data = String(decoding: try ReportJSON.data(of: status), as: UTF8.self)
          let event = ServerSentEvent(name: status.state == .running ? "progress" : "done", data: data)
          try await writer.write(ByteBuffer(string: event.text))
          if status.state != .running { break }
          try await Task.sleep(for: Self.pace)
        }
        try await writer.finish(nil)
      })
  }

  private func result(_ call: Call, _ status: Batches.Status, mediaType: String) async throws -> Response {
    guard status.state != .running else {
      throw Problem(
        .conflict, "batch_running", "The batch has no result yet. Try again when it has ended.", retryAfter: 1)
    }
    let headers: HTTPFields = [.contentType: mediaType, .cacheControl: "no-store"]
    guard call.request.method == .get else { return Response(status: .ok, headers: headers) }
    let next = try await batches.place.result(status.id)
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        while let piece = try await next?() { try await writer.write(ByteBuffer(bytes: piece)) }
        try await writer.finish(nil)
      })
  }
}
