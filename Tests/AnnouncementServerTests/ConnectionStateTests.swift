// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import AnnouncementServer

@Suite("The state of a connection")
struct ConnectionStateTests {
  /// An event on a connection with a limit of 30 s.
  enum Happening: Sendable, CustomTestStringConvertible {
    case head, end, last, response, closed, stops
    case writable(Bool, unread: Int = 0)
    /// This number of seconds passes.
    case wait(Int64)

    var testDescription: String { "\(self)" }
  }

  /// A connection whose clock the test moves.
  private struct Connection {
    var state = ConnectionState(limit: .seconds(30))
    var now = NIODeadline.uptimeNanoseconds(1)
    var isWritable = true

    init(_ happenings: [Happening] = []) {
      state.opened(at: now)
      for happening in happenings { happens(happening) }
    }

    mutating func happens(_ happening: Happening) {
      switch happening {
      case .head: state.headRead(at: now, isWritable: isWritable)
      case .end: state.endRead(at: now)
      case .last: state.lastRequestRead()
      case .response: state.responseWritten(at: now)
      case .closed: state.closed(at: now)
      case .stops: state.stops(at: now)
      case .writable(let isWritable, let unread):
        self.isWritable = isWritable
        state.writabilityChanged(isWritable: isWritable, unread: unread, at: now)
      case .wait(let seconds): now = now + .seconds(seconds)
      }
    }

    /// The seconds from now until a connection without events is closed. The state decides when it is checked. Nil if
    /// the connection is still open after an hour.
    func secondsLeft(unread: Int = 0) -> Int64? {
      var state = state
      var time = state.nextCheck(after: now)
      while time < now + .hours(1) {
        switch state.timePassed(at: time, unread: unread) {
        case .close: return (time - now).nanoseconds / 1_000_000_000
        case .wait(let next):
          #expect(next > time)
          time = next
        }
      }
      return nil
    }
  }

  // MARK: Requests after the last one

  @Test(
    "a request is ignored only if its connection was to end after an earlier request",
    arguments: [
      ([.head], false),
      ([.head, .last], false),
      ([.head, .last, .end], false),
      ([.head, .last, .end, .head], true),
      ([.head, .last, .end, .head, .end, .head], true),
      // The response says that it is the last one, while the next request is being received.
      ([.head, .end, .head, .last], false),
      ([.head, .end, .head, .last, .end, .head], true),
      ([.closed, .head], false),
    ] as [([Happening], Bool)])
  func ignored(happenings: [Happening], isIgnored: Bool) {
    #expect(Connection(happenings).state.ignoresRequest == isIgnored)
  }

  // MARK: Deadlines

  @Test(
    "a client that reads everything has the full time limit for each request, and a response may take any time",
    arguments: [
      ([], 30),
      ([.wait(20), .head], 30),
      ([.head, .wait(20)], 10),
      ([.head, .end], nil),
      ([.head, .end, .wait(1000), .response], 30),
      ([.head, .end, .head, .end, .response], nil),
      ([.head, .end, .head], 30),
      ([.head, .end, .head, .end, .response, .response, .wait(10)], 20),
      // A response before the end of its request does not give the request more time.
      ([.head, .wait(10), .response], 20),
      ([.head, .response, .wait(10), .end], 30),
      ([.head, .end, .writable(false)], 30),
      ([.head, .end, .writable(false), .wait(10)], 20),
      ([.head, .end, .writable(false), .writable(true)], nil),
      ([.head, .end, .closed, .wait(10)], 20),
      ([.head, .end, .closed, .wait(10), .head, .end], 20),
    ] as [([Happening], Int64?)])
  func deadlines(happenings: [Happening], seconds: Int64?) {
    #expect(Connection(happenings).secondsLeft() == seconds)
  }

  @Test(
    "when the service stops, a client has two seconds to finish its request, or eight seconds to read its response",
    arguments: [
      ([.stops], 0, 2),
      ([.head, .wait(29), .stops], 0, 1),
      ([.head, .stops, .wait(1), .head], 0, 2),
      ([.stops], 1, 8),
      ([.head, .end, .stops], 0, nil),
      ([.head, .end, .stops, .response], 0, 2),
      ([.head, .end, .response, .stops], 1, 8),
    ] as [([Happening], Int, Int64?)])
  func stopping(happenings: [Happening], unread: Int, seconds: Int64?) {
    #expect(Connection(happenings).secondsLeft(unread: unread) == seconds)
  }

  @Test("a client that has not read all bytes gets the time limit once more, and stays connected while it reads enough")
  func reading() {
    var connection = Connection([.head, .end, .response])
    #expect(connection.secondsLeft(unread: 1_000_000) == 60)
    var unread = 1_000_000
    for _ in 0..<10 {
      connection.happens(.wait(30))
      #expect(
        connection.state.timePassed(at: connection.now, unread: unread) == .wait(until: connection.now + .seconds(30)))
      unread -= ConnectionState.leastRead
    }
    connection.happens(.wait(30))
    #expect(connection.state.timePassed(at: connection.now, unread: unread + 1) == .close)
  }

  @Test("bytes of an earlier response that a client has not read do not shorten its time for the next response")
  func readingOfAnotherResponse() {
    var connection = Connection([.head, .end, .response, .wait(30)])
    _ = connection.state.timePassed(at: connection.now, unread: 100_000)
    for happening in [.head, .end, .response, .wait(30)] as [Happening] { connection.happens(happening) }
    #expect(
      connection.state.timePassed(at: connection.now, unread: 100_000) == .wait(until: connection.now + .seconds(30)))
  }
}
