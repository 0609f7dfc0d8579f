// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The state of an HTTP/1.1 connection: the request that is being received, the responses that are not written yet, and
/// the deadlines of a client that sends or reads too slowly.
///
/// It is a value without a channel, a timer or a clock. The ``ConnectionHandler`` reports what it reads and writes, and
/// asks whether to close the connection.
struct ConnectionState: Sendable, Equatable {
  /// The time limit of a request that is still being received when the service stops.
  static let stopLimit: TimeAmount = .seconds(2)

  /// The time limit for reading a response when the service stops. It is shorter than the time within which the service
  /// must stop.
  static let lastReading: TimeAmount = .seconds(8)

  /// The number of bytes that a client must read within the limit to count as reading. Progress is visible only in
  /// steps, because Linux accepts more of a response when a third of its buffer is free again
  /// (`sk_stream_is_writeable`). This third is 170 kB of a buffer of 512 KiB. With a limit of 30 s, clients that read
  /// 6 kB/s or more receive all of a long response.
  static let leastRead = 60_000

  private let limit: TimeAmount
  /// Whether a request is being received that will be answered.
  private var isReceiving = false
  /// The number of requests whose response is not written completely. It includes the request that is being received.
  private var unanswered = 0
  /// Whether the last request that will be answered has been received.
  private var hasLastRequest = false
  private var isAfterLastRequest = false
  /// Whether the service has closed its side after its last response. Requests that still arrive are not answered.
  private var isClosed = false
  private var isWritable = true
  /// The deadline of the next request; set while a request is awaited or being received.
  private var requestDeadline: NIODeadline?
  /// The time by which the client must have read more of the response; set while too many written bytes are unread.
  private var readingDeadline: NIODeadline?
  /// The number of bytes that the client had not read at the last check; nil if there was no check since the last
  /// request arrived.
  private var unread: Int?
  /// The time until which clients may read their responses; set when the service stops.
  private var end: NIODeadline?

  /// - Parameter limit: The time limit of a request, and of a client that reads nothing.
  init(limit: TimeAmount) { self.limit = limit }

  // MARK: What happens on the connection

  /// Notes that the connection is open. Its first request is awaited from now on.
  mutating func opened(at now: NIODeadline) { requestDeadline = now + limit }

  /// Notes that the head of a request was read.
  mutating func headRead(at now: NIODeadline, isWritable: Bool) {
    self.isWritable = isWritable
    isAfterLastRequest = hasLastRequest
    guard !isClosed else { return }
    if isWritable { unread = nil }
    requestDeadline = now + patience
    guard !isAfterLastRequest else { return }
    isReceiving = true
    unanswered += 1
  }

  /// Notes that the request was read to its end.
  mutating func endRead(at now: NIODeadline) {
    isReceiving = false
    guard !isClosed else { return }
    // If the response was written before the request ended, the connection now waits for the next request.
    requestDeadline = unanswered > 0 ? nil : now + patience
  }

  /// Notes that no request after the one that is being received will be answered.
  mutating func lastRequestRead() { hasLastRequest = true }

  /// Notes that a response was written to its end.
  mutating func responseWritten(at now: NIODeadline) {
    // A malformed request is answered too, although it has no head that could be read.
    unanswered = max(0, unanswered - 1)
    if unanswered == 0, requestDeadline == nil { requestDeadline = now + patience }
  }

  /// Notes that the number of bytes that wait to be written has reached its limit, or has fallen below the limit.
  ///
  /// - Parameter unread: The number of bytes that the operating system has not accepted yet.
  mutating func writabilityChanged(isWritable: Bool, unread: Int, at now: NIODeadline) {
    self.isWritable = isWritable
    readingDeadline = isWritable ? nil : now + limit
    self.unread = isWritable ? nil : unread
  }

  /// Notes that the service stops. An incomplete request then has less time than usual.
  mutating func stops(at now: NIODeadline) {
    end = now + Self.lastReading
    requestDeadline = requestDeadline.map { min($0, now + Self.stopLimit) }
  }

  /// Notes that the service has closed its side. The client is expected to read the remaining bytes and then close its
  /// side. The client may have sent requests that are no longer answered.
  mutating func closed(at now: NIODeadline) {
    isClosed = true
    requestDeadline = now + patience
  }

  // MARK: What to do

  /// Whether the request that is being received comes after the last one that is answered. No part of such a request is
  /// passed on.
  var ignoresRequest: Bool { isAfterLastRequest }

  /// The action that a connection needs now.
  enum Patience: Sendable, Equatable {
    case close
    /// Do nothing before this time.
    case wait(until: NIODeadline)
  }

  /// Returns what to do with a connection, depending on whether its client has been too slow.
  ///
  /// - Parameter unread: The number of bytes that the operating system has not accepted yet.
  mutating func timePassed(at now: NIODeadline, unread: Int) -> Patience {
    if [requestDeadline, readingDeadline].contains(where: { $0.map { $0 <= now } ?? false }) {
      guard isReading(unread, at: now) else { return .close }
      // A client that is still reading the last response is not expected to send a request yet.
      requestDeadline = requestDeadline.map { max($0, now + patience) }
      readingDeadline = readingDeadline.map { max($0, now + patience) }
    }
    return .wait(until: nextCheck(after: now))
  }

  /// Returns the time of the next check: the earliest deadline, but at the latest one time limit from now, because
  /// another deadline may be set meanwhile.
  func nextCheck(after now: NIODeadline) -> NIODeadline {
    let latest = now + patience
    return min(requestDeadline ?? latest, readingDeadline ?? latest, latest)
  }

  /// The time limit for a request or for reading a response. It is shorter while the service stops.
  private var patience: TimeAmount { end == nil ? limit : min(limit, Self.stopLimit) }

  /// Returns whether the client has bytes left to read and is reading them.
  private mutating func isReading(_ waiting: Int, at now: NIODeadline) -> Bool {
    defer { unread = waiting }
    // The reading speed cannot be measured within two seconds, so every client with bytes left to read counts as
    // reading.
    if let end { return waiting > 0 && now < end }
    return waiting > 0 && (unread.map { $0 - waiting >= Self.leastRead } ?? true)
  }
}
