// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import HostAddresses
import Hummingbird
import HummingbirdCore
import Logging
import ServiceAccess

/// The processing of every request: it finds the route, identifies the sender, applies the rate limit, calls the
/// handler, and writes the metrics and the log.
///
/// All of these steps are in one place, so that no route can leave one out. A request that is answered from memory does
/// not wait in any of these steps.
struct ServiceResponder: HTTPResponder {
  typealias Context = ServiceContext

  let routes: RouteTable
  let keys: KeyRing
  let urls: ClipURLs
  let metrics: ServiceMetrics
  let stopping: Stopping
  /// The names of the service, for routes that require one of them.
  let names: HostNames
  let failures: FailureGate
  /// The addresses of the proxies whose `X-Forwarded-For` is trusted.
  let proxies: Set<IPAddress>
  let refusals: RefusalLog
  let longAnswers = LongAnswers()
  let logger: Logger

  /// Answers a request. This function never throws: every error becomes a response.
  func respond(to request: Request, context: ServiceContext) async -> Response {
    let start = ContinuousClock.now
    metrics.begin()
    // The library's own request ids are numbers of a counter, which would reveal the number of requests.
    let id = RandomID.make()
    let peer = Connection.current?.peer
    let forwardedFor = request.headers[values: .forwardedFor]
    let client = IPAddress.client(peer: peer, forwardedFor: forwardedFor, proxies: proxies)
    // If the address in `X-Forwarded-For` cannot be read, the client is unknown. The address of the proxy must not be
    // used instead.
    var call = Call(
      request: request, id: id, peer: forwardedFor.isEmpty ? peer : client, client: client, logger: logger)
    var limits: RateLimitDecision?
    var path = "other"
    var code: String?
    var response: Response
    do {
      if let fault = request.headers[.messageFault] {
        throw (MessageFault(rawValue: fault) ?? .host).problem
      }
      call.awaitedContinue = awaitedContinue(request, context)
      switch routes.match(request.method, request.uri.path) {
      case .nothing: throw Problem.notFound(meant: routes.meant(by: request.uri.path))
      case .otherMethods(let allow, let template):
        path = template
        var problem = Problem(
          .methodNotAllowed, "method_not_allowed", "The call does not support this method. Use \(allow).")
        problem.headers[.allow] = allow
        throw problem
      case .route(let route, let parameters):
        path = route.template
        call.parameters = parameters
        // While the service stops, requests that only read are still answered. New work is refused, so that the client
        // sends it elsewhere or later.
        if stopping.isStopping, request.method != .get, request.method != .head { throw Problem.stopping }
        try await admit(&call, route.access, &limits)
        try route.requireKnownQuery(of: call)
        response =
          if route.isLong, let account = call.caller?.account {
            try await longAnswers.make(for: account) { [call] in try await route.handler(call) }
          } else if route.isOnLoop {
            try await route.handler(call)
          } else {
            try await withTaskExecutorPreference(WaitingThreads.shared) { [call] in try await route.handler(call) }
          }
      }
    } catch {
      var problem = Problem(error)
      if problem.status == .unauthorized { problem = failures.refusal(of: call) ?? problem }
      if [.tooManyRequests, .serviceUnavailable].contains(problem.status) { metrics.countRefusal(problem.code) }
      if problem.status == .internalServerError,
        refusals.isWritten(RefusalLog.Kind(status: 500, path: "\(path) (\(problem.code))"))
      {
        logger.error(
          "A request failed.",
          metadata: ["hb.request.id": "\(id)", "code": "\(problem.code)", "error": "\(Problem.loggable(error))"])
      }
      code = problem.code
      response = problem.response(requestID: id)
    }
    response.headers.append(contentsOf: ConnectionHandler.browserFields)
    response.headers.append(HTTPField(name: .requestID, value: id))
    for (name, value) in limits?.headerFields ?? [] {
      // A problem may have set its own `Retry-After`, which is not replaced.
      guard let name = Self.limitFields[name], code == nil || response.headers[name] == nil else { continue }
      response.headers.append(HTTPField(name: name, value: value))
    }
    if request.method == .head { response = response.createHeadResponse() }
    // A sender that still waits for `100 Continue` may next send the body or another request. The service could not
    // tell which, so the connection is closed.
    if stopping.isStopping || call.awaitedContinue?.isSent == false { response.headers[.connection] = "close" }
    let duration = ContinuousClock.now - start
    metrics.end(
      ServiceMetrics.RequestSeries(
        method: Self.countedMethods.contains(request.method) ? request.method.rawValue : "other", path: path,
        status: response.status.code),
      took: duration)
    // Refusals are logged, but limited to avoid thousands of lines in a second. Successful requests are visible in the
    // metrics.
    let isRefusal = response.status.code >= 400
    guard !isRefusal || refusals.isWritten(RefusalLog.Kind(status: response.status.code, path: path)) else {
      return response
    }
    let level: Logger.Level = isRefusal ? .info : .debug
    guard logger.logLevel <= level else { return response }
    var metadata: Logger.Metadata = [
      "hb.request.id": "\(id)",
      "method": "\(Self.countedMethods.contains(request.method) ? request.method.rawValue : "other")",
      "path": "\(path)", "status": "\(response.status.code)", "key": "\(call.keyName ?? "-")",
      "ms": "\(Int(duration.inSeconds * 1000))",
    ]
    if let code { metadata["code"] = "\(code)" }
    logger.log(level: level, "request", metadata: metadata)
    return response
  }

  /// The names of the fields of a rate limit.
  private static let limitFields = Dictionary(
    uniqueKeysWithValues: ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"].map {
      ($0, HTTPField.Name(token: $0))
    })

  private static let countedMethods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .options, .patch]

  /// Returns the pending `100 Continue` of a request.
  ///
  /// - Returns: nil if the sender does not wait, or has no body to send.
  private func awaitedContinue(_ request: Request, _ context: ServiceContext) -> AwaitedContinue? {
    guard request.headers[.expect] != nil,
      request.headers[.transferEncoding] != nil || request.headers[.contentLength].map({ $0 != "0" }) == true
    else { return nil }
    return AwaitedContinue { [channel = context.channel] in
      // If the connection is closed, nobody waits, so the error is ignored.
      try? await channel.triggerUserOutboundEvent(ConnectionHandler.ContinueRequest())
    }
  }

  /// Checks that the sender may use the route and is within the rate limit.
  private func admit(
    _ call: inout Call, _ access: CallAccess, _ limits: inout RateLimitDecision?
  ) async throws {
    switch access {
    case .open: return
    case .openByName:
      guard let authority = call.authority.flatMap({ Authority($0) }), names.contain(authority) else {
        throw Problem(
          .misdirectedRequest, "host_unknown",
          "Host: is not one of this service's names; use one of them, or add this one to the setting 'hosts'.")
      }
      return
    case .keyOrSignedURL:
      if call.header(.authorization) == nil, ClipURLs.isSigned(call.request.uri) {
        return try urls.check(call.request.uri)
      }
    case .keyOfAnyScope, .key, .keyOrOwnDevice, .keyOrAnyDevice: break
    }
    let caller: Caller
    if let known = try keys.remembered(for: &call) {
      caller = known
    } else {
      caller = try await keys.caller(of: &call, failures: failures)
    }
    call.caller = caller
    let answer = keys.admit(caller)
    guard answer.isAllowed else {
      limits = answer
      throw Problem(
        .tooManyRequests, "rate_limited", "The key has sent too many requests. Try again after the time in Retry-After."
      )
    }
    // This check comes after the rate limit because it writes to the ledger. A request over the limit costs no disk
    // write and may be sent again unchanged.
    if call.signed != nil { try await keys.admitOnce(call, caller) }
    limits = answer
    guard access.allows(caller, parameters: call.parameters) else {
      if caller.device != nil {
        throw Problem(
          .forbidden, "scope_missing",
          "The key belongs to a device, and no device may make this call. Let the shop's backend make it.")
      }
      let scopes = access.permission?.scopes.map(\.rawValue) ?? []
      throw Problem(
        .forbidden, "scope_missing",
        "The key has none of the scopes that allow this call: \(scopes.joined(separator: ", ")). Create a key that has "
          + "one with crier keys create.")
    }
  }
}
