// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import AsyncAlgorithms
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InstallationDiagnosis
import Ledger
import NIOCore
import Playback
import ServiceAccess
import ServiceLifecycle
import TextFormats

/// The route `GET /v1/events`.
struct EventRoutes: Sendable {
  /// The maximum number of streams for all accounts together.
  static let mostStreams = 100

  let player: LanePlayer?
  let ledger: any Ledger.Store
  let hub: EventHub
  let keys: KeyRing
  let slots: AccountSlots
  let settings: ServiceSettings
  let commands: RemedyCommands

  var routes: [Route] { [.get("/v1/events", .key(.read), get)] }

  private enum Item: Sendable {
    case ledger(Ledger.Event)
    case live(LiveNews)
    case beat
    /// The client has disconnected.
    case gone
  }

  private func get(_ call: Call) async throws -> Response {
    _ = try Accept(call).require("text/event-stream")
    let sender = try call.sender
    var position: Int64?
    if let last = call.header(.lastEventID) {
      guard let number = Int64(last), number >= 0 else {
        throw Problem.parameterInvalid("Last-Event-ID: is not the id of an event; leave it out.")
      }
      position = number
    } else {
      position = try await ledger.lastEventPosition()
    }
    let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    guard call.request.method == .get else { return Response(status: .ok, headers: headers) }
    let slot = try slots.take(sender.account)
    let live = hub.listen()
    let start = position
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        defer { slot.free() }
        // A comment is sent at once, so that the client knows that the stream is open.
        try await writer.write(ByteBuffer(string: ": crier\n\n"))
        let items = merge(
          merge(
            ledgerEvents(after: start), live.map { Item.live($0) },
            AsyncTimerSequence(interval: .seconds(settings.heartbeat), clock: .continuous).map { _ in Item.beat }),
          Connection.currentEnds().map { Item.gone })
        // A stream never ends by itself, so it is cancelled when the service stops.
        var shop: ShopState?
        for try await item in items.cancelOnGracefulShutdown() {
          if case .gone = item { break }
          if case .live(.shop(let facts)) = item {
            let state = ShopState(of: facts, for: ShopState.Viewer(sender))
            // The change may concern only other accounts.
            if state == shop { continue }
            shop = state
          }
          // The stream ends when the sender's key is revoked or expires.
          guard try await keys.isInForce(sender) else { break }
          if let text = try await text(of: item, for: sender) { try await writer.write(ByteBuffer(string: text)) }
        }
        try await writer.finish(nil)
      })
  }

  /// Returns the ledger's events of the player's lane. Without a player, the stream yields nothing.
  private func ledgerEvents(after position: Int64?) -> AsyncThrowingStream<Item, any Error> {
    let reader = LedgerEvents(player: player, position: position)
    return AsyncThrowingStream { try await reader.next().map { Item.ledger($0) } }
  }

  private struct EventData: Encodable {
    @ExplicitNull var position: Int64? = nil
    var at: Date
    var kind: String
    @ExplicitNull var id: String? = nil
    @ExplicitNull var number: Int64? = nil
    /// The id of the replayed announcement, if the event is about a replay.
    @ExplicitNull var replayOf: String? = nil
    var replay = false
    var detail: [String: String]
  }

  /// Returns the text of an item for the stream.
  ///
  /// - Returns: The text; nil if the sender may not see the event.
  private func text(of item: Item, for sender: Caller) async throws -> String? {
    switch item {
    case .beat: return ServerSentEvent.heartbeat
    case .gone: return nil
    case .live(.event(let event)):
      guard event.account == nil || event.account == sender.account || sender.isAdmin else { return nil }
      return try Self.text(EventData(at: event.at, kind: event.kind.rawValue, id: event.id, detail: event.detail))
    case .live(.shop(let facts)):
      let report = ShopState(of: facts, for: ShopState.Viewer(sender)).report(commands)
      let data = try ReportJSON.data(of: report)
      return ServerSentEvent(name: "shop", data: String(decoding: data, as: UTF8.self)).text
    case .ledger(let event):
      var seen: LaneEntries.Seen?
      if let number = event.number {
        // If the entry was pruned meanwhile, nobody may see the event.
        seen = try await LaneEntries(ledger: ledger).seen(number, by: sender)
        if seen == nil { return nil }
      }
      // An event of a replay does not have the announcement's id, because the replay's state is not the announcement's
      // state.
      let isReplay = seen?.isReplay ?? false
      return try Self.text(
        EventData(
          position: event.position, at: event.at, kind: event.kind.rawValue, id: isReplay ? nil : seen?.id,
          number: event.number, replayOf: isReplay ? seen?.id : nil, replay: isReplay, detail: event.detail))
    }
  }

  private static func text(_ event: EventData) throws -> String {
    ServerSentEvent(
      id: event.position.map(String.init), name: event.kind,
      data: String(decoding: try ServiceJSON.data(of: event), as: UTF8.self)
    ).text
  }
}

/// The events of a lane whose player may start later.
private actor LedgerEvents {
  private let player: LanePlayer?
  private var position: Int64?
  private var iterator: AsyncThrowingStream<Ledger.Event, any Error>.AsyncIterator?

  init(player: LanePlayer?, position: Int64?) {
    self.player = player
    self.position = position
  }

  func next() async throws -> Ledger.Event? {
    while true {
      if iterator == nil, let player = player?.player {
        iterator = player.events(after: position).makeAsyncIterator()
      }
      if var current = iterator {
        let event = try await current.next(isolation: self)
        iterator = event == nil ? nil : current
        if let event {
          position = event.position
          return event
        }
      }
      // There is no player, or it has stopped. A new player may start, so this loop checks as often as a player tries
      // to take its lane.
      try await Task.sleep(for: LanePlayer.patience)
    }
  }
}
