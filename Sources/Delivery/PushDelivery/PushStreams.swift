// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import NIOHTTP2
import PushMessages

/// The requests in progress on one connection, each on its own stream.
///
/// This type has no access to the connection: the caller passes it everything that arrives, and carries out the steps
/// that it returns. Each push gets exactly one outcome, whatever arrives.
struct PushStreams<Push> {
  enum Outcome: Equatable {
    case answered(PushResponse)
    case failed(PushTransportError.Code)
  }

  /// A push that has its outcome.
  struct Ending {
    var push: Push
    var outcome: Outcome
  }

  /// The steps of the caller after a frame has arrived.
  struct Step {
    /// The push that has its outcome now; nil if none has.
    var ending: Ending?
    /// Whether the caller has to reset the stream.
    var mustReset = false
  }

  /// A stream that took too long. The caller has to reset it.
  struct LateStream {
    var id: HTTP2StreamID
    var sentAt: NIODeadline
    /// The push with its outcome; nil if it got its outcome before.
    var ending: Ending?
  }

  private struct Stream {
    var sentAt: NIODeadline
    /// The push; nil if the push already has its outcome but the stream has not ended.
    var push: Push?
    var answer = PushAnswer()
  }

  /// The maximum number of streams at a time. It is 0 until the server has sent its settings.
  var limit = 0
  private var streams: [HTTP2StreamID: Stream] = [:]
  /// The next stream. Clients have the odd numbers (RFC 9113, section 5.1.1).
  private var next: Int32
  /// The last stream that the server processes; nil until the server has named one.
  private var lastProcessed: HTTP2StreamID?

  /// - Parameter first: The number of the first stream.
  init(first: Int32 = 1) { next = first }

  var isEmpty: Bool { streams.isEmpty }
  /// Whether the connection has no numbers left for streams, after 1,073,741,823 of them.
  var isUsedUp: Bool { next == .max }
  /// Whether another stream may begin.
  var hasRoom: Bool { streams.count < limit && !isUsedUp }
  /// The time at which the oldest stream began; nil if there is none.
  var oldest: NIODeadline? { streams.values.lazy.map(\.sentAt).min() }

  /// Begins a stream. There must be room.
  mutating func start(_ push: Push, at now: NIODeadline) -> HTTP2StreamID {
    // Not from outside: the caller checks `hasRoom` before each request, whatever the server's settings are.
    precondition(hasRoom, "The server allows no more streams.")
    let id = HTTP2StreamID(next)
    // The highest possible number is odd too. It is not used, so that this sum cannot overflow.
    next += 2
    streams[id] = Stream(sentAt: now, push: push)
    return id
  }

  // MARK: What arrives

  /// Takes header fields of an answer, or its trailers.
  mutating func receive(_ fields: HPACKHeaders, endsStream: Bool, on id: HTTP2StreamID) -> Step {
    guard let index = streams.index(forKey: id) else { return Step() }
    streams.values[index].answer.add(fields)
    return Step(ending: endsStream ? answer(at: index) : nil)
  }

  /// Takes a part of the body of an answer.
  mutating func receive(_ part: ByteBuffer, endsStream: Bool, on id: HTTP2StreamID) -> Step {
    guard let index = streams.index(forKey: id) else { return Step() }
    let isShort = streams.values[index].answer.add(part)
    if endsStream { return Step(ending: answer(at: index)) }
    if isShort { return Step() }
    // The stream is reset, because the body might never end.
    let ending = answer(at: index)
    streams[id] = nil
    return Step(ending: ending, mustReset: true)
  }

  private mutating func answer(at index: Dictionary<HTTP2StreamID, Stream>.Index) -> Ending? {
    guard let push = streams.values[index].push else { return nil }
    streams.values[index].push = nil
    return Ending(
      push: push,
      outcome: streams.values[index].answer.response.map { .answered($0) } ?? .failed(.connectionLost))
  }

  /// Takes the server's announcement that it processes no stream after a certain one.
  mutating func refuse(after last: HTTP2StreamID) { lastProcessed = min(last, lastProcessed ?? last) }

  /// Takes the end of a stream.
  ///
  /// - Parameter reason: The error code; nil if the stream ended without an error.
  mutating func end(_ id: HTTP2StreamID, reason: HTTP2ErrorCode?) -> Ending? {
    guard let push = streams.removeValue(forKey: id)?.push else { return nil }
    // RFC 9113, section 8.7: a stream with the error REFUSED_STREAM was not processed, and neither was any stream after
    // the last one that GOAWAY names.
    let isRefused = reason == .refusedStream || isAfterLast(id)
    return Ending(push: push, outcome: .failed(isRefused ? .notProcessed : .connectionLost))
  }

  private func isAfterLast(_ id: HTTP2StreamID) -> Bool { lastProcessed.map { id > $0 } ?? false }

  /// Takes the end of the connection, which ends all streams.
  mutating func endAll() -> [Ending] { streams.keys.compactMap { end($0, reason: nil) } }

  // MARK: Time

  /// Ends the streams that began at a time or before it.
  mutating func giveUp(startedBy limit: NIODeadline) -> [LateStream] {
    var late: [LateStream] = []
    for (id, stream) in streams where stream.sentAt <= limit {
      let ending = stream.push.map { Ending(push: $0, outcome: .failed(.timedOut)) }
      late.append(LateStream(id: id, sentAt: stream.sentAt, ending: ending))
    }
    for stream in late { streams[stream.id] = nil }
    return late
  }
}
