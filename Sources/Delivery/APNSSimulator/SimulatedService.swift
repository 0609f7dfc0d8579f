// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import NIOHPACK

/// The answer to a request.
struct Answer: Equatable {
  var status: Int
  /// The value of `apns-id` as the client gave it, or the id that was made.
  var id: String
  var reason: String?
  /// The time since which a token is invalid, in milliseconds since 1970.
  var timestamp: Int64?
  /// The value of `Retry-After`, in seconds.
  var retryAfter: Int?
  /// The device's token and the number of a push that waits for the next one, with which it changes places.
  var held: Held?

  struct Held: Equatable {
    var device: String
    var number: Int
  }

  var headers: HPACKHeaders {
    var headers = HPACKHeaders()
    headers.add(name: ":status", value: "\(status)")
    headers.add(name: "apns-id", value: id)
    if let retryAfter { headers.add(name: "retry-after", value: "\(retryAfter)") }
    if reason != nil { headers.add(name: "content-type", value: "application/json") }
    return headers
  }

  /// The body, as JSON; `nil` for an accepted push.
  var body: String? {
    guard let reason else { return nil }
    // A reason that a person gives on the command line may contain any character.
    let escaped = reason.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return timestamp.map { #"{"reason":"\#(escaped)","timestamp":\#($0)}"# } ?? #"{"reason":"\#(escaped)"}"#
  }
}

/// A request that has arrived whole.
struct WholeRequest {
  var headers: PushHeaders
  /// The payload. A part may be missing if it is much too long.
  var payload: [UInt8]
  /// The number of bytes of the payload that were received.
  var count: Int
  /// The id of the push, if the client gave none.
  let newID = UUID()

  var id: String { headers.id ?? newID.uuidString.lowercased() }
}

/// The simulator's handling of requests, without the network.
final class SimulatedService: Sendable {
  let configuration: APNSSimulator.Configuration
  let store: PushStore
  private let tokens: ProviderTokens
  private let checks: RequestChecks
  /// The random numbers of faults have their own sequence, so that they do not depend on deliveries.
  private let random: Locked<SeededRandom>

  init(_ configuration: APNSSimulator.Configuration) {
    self.configuration = configuration
    store = PushStore(configuration)
    tokens = ProviderTokens(configuration.keys, updateInterval: configuration.tokenUpdateInterval)
    checks = RequestChecks(topics: configuration.topics, requiresType: configuration.requiresPushType)
    random = Locked(SeededRandom(seed: configuration.seed &+ 1))
  }

  /// Counts the request, and decides whether a fault happens to it.
  func fault(of request: WholeRequest, connection: Int, stream: Int) -> Fault? {
    let number = store.count { counts in
      counts.requests += 1
      return counts.requests
    }
    let fault: Fault?
    switch configuration.faults {
    case .none: return nil
    case .rates(let rates):
      fault = random.withLock { random in rates.first { random.happens($0.probability) } }?.fault
    case .script(let script):
      fault = script(
        ReceivedRequest(
          number: number, connection: connection, stream: stream, path: request.headers.path, id: request.headers.id,
          topic: request.headers.topic, type: request.headers.type, payload: request.payload))
    }
    if let fault {
      store.count { $0.faults[fault.name, default: 0] += 1 }
      if let wrong = fault.wrongAnswer { tell(request, status: wrong.status, reason: wrong.reason, isFault: true) }
    }
    return fault
  }

  /// Checks the request, and accepts or refuses the push.
  ///
  /// - Parameter tokenIsValid: A closure that is called if the provider token is valid.
  func process(_ request: WholeRequest, tokenIsValid: () -> Void) -> Answer {
    do throws(Refusal) {
      let token = try checks.device(request.headers)
      let now = configuration.now()
      let key = try tokens.check(request.headers.authorization, now: now)
      tokenIsValid()
      let checked = try checks.checked(
        request.headers, token: token, key: key, id: request.newID, payload: request.payload, count: request.count)
      let number = try store.accept(checked, payload: request.payload, now: now)
      var answer = Answer(status: 200, id: request.id)
      answer.held = number.map { Answer.Held(device: checked.device, number: $0) }
      return answer
    } catch {
      store.count { $0.refused[error.reason, default: 0] += 1 }
      tell(request, status: error.status, reason: error.reason, isFault: false)
      return Answer(status: error.status, id: request.id, reason: error.reason, timestamp: error.timestamp)
    }
  }

  private func tell(_ request: WholeRequest, status: Int?, reason: String, isFault: Bool) {
    store.tell(
      RefusedPush(
        status: status, reason: reason, device: request.headers.device, topic: request.headers.topic,
        type: request.headers.type, isFault: isFault))
  }

  /// Returns the answer of a fault.
  func answer(status: Int, reason: String, retryAfter: Int?, to request: WholeRequest) -> Answer {
    Answer(
      status: status, id: request.id, reason: status == 200 ? nil : reason,
      timestamp: status == 410 ? configuration.now() : nil, retryAfter: retryAfter)
  }
}
