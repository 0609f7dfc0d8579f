// SPDX-License-Identifier: Apache-2.0

/// Something that goes wrong with a request.
public struct Fault: Sendable, Equatable {
  public enum Action: Sendable, Equatable {
    /// Answers with this status and reason, and with `Retry-After` in seconds if given.
    case answer(status: Int, reason: String, retryAfter: Int? = nil)
    /// Waits for this many milliseconds.
    case delay(milliseconds: Int)
    /// Sends GOAWAY. If this happens before processing, the request and all later streams are refused; otherwise only
    /// later streams are. The connection closes when all remaining streams have ended.
    case goAway
    /// Resets the stream with this error code of HTTP/2: 2 is INTERNAL_ERROR, 7 is REFUSED_STREAM.
    case reset(code: Int)
    /// Closes the connection.
    case closeConnection
    /// Never answers.
    case never
  }

  /// When the fault happens.
  public enum Moment: Sendable, Equatable {
    /// The push is not accepted, unless the fault is a delay: then it is processed after the delay.
    case beforeProcessing
    /// The push is accepted and counts as accepted, whatever answer the client gets.
    case afterProcessing
  }

  public var action: Action
  public var moment: Moment

  public init(_ action: Action, _ moment: Moment = .beforeProcessing) { (self.action, self.moment) = (action, moment) }

  /// The name of the fault in ``Counts``: the status and reason, or the name of the action.
  var name: String {
    switch action {
    case .answer(let status, let reason, _): "\(status) \(reason)"
    case .delay: "delay"
    case .goAway: "goaway"
    case .reset: "reset"
    case .closeConnection: "close"
    case .never: "never"
    }
  }
}

extension Fault {
  /// The answer that a client gets instead of the right one: its status, `nil` for no answer, and its reason. `nil` for
  /// a fault that does not change the answer.
  var wrongAnswer: (status: Int?, reason: String)? {
    switch action {
    case .answer(200, _, _), .delay: nil
    case .answer(let status, let reason, _): (status, reason)
    case .goAway, .reset, .closeConnection, .never: (nil, name)
    }
  }
}

/// The rule that decides which requests have a fault.
public enum Faults: Sendable {
  /// A fault that happens with a probability from 0 to 1.
  public struct Rate: Sendable {
    public var fault: Fault
    public var probability: Double

    public init(_ fault: Fault, probability: Double) { (self.fault, self.probability) = (fault, probability) }
  }

  case none
  /// Faults at random. If several faults would happen to a request, only the first of these faults in the list happens.
  case rates([Rate])
  /// A closure that decides for each request. It runs on the thread of the connection, and must not block.
  case script(@Sendable (ReceivedRequest) -> Fault?)
}

/// A request as a script of faults sees it, before it is checked. Header fields that are missing are `nil`.
public struct ReceivedRequest: Sendable {
  /// The number of the request, from 1, over all connections.
  public let number: Int
  /// The number of the connection, from 1.
  public let connection: Int
  /// The number of the stream on the connection.
  public let stream: Int
  public let path: String
  /// The value of `apns-id`.
  public let id: String?
  /// The value of `apns-topic`.
  public let topic: String?
  /// The value of `apns-push-type`.
  public let type: String?
  public let payload: [UInt8]

  /// The device's token, as the path has it.
  public var device: String { PushHeaders.device(ofPath: path) }
}
