// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import ServiceAccess

/// The way of every request: which call it is, who sends it, how often, the work, and what is told of it.
///
/// One place, so that no call can leave anything of it out.
struct ServiceResponder: HTTPResponder {
  typealias Context = ServiceContext

  let routes: RouteTable
  let keys: KeyRing
  let urls: ClipURLs
  let metrics: ServiceMetrics
  let stopping: Stopping
  /// What the service is called where a name of somebody else's is not let in.
  let names: HostNames
  let failures: FailureGate
  /// Whose `X-Forwarded-For` is believed.
  let proxies: Set<IPAddress>
  let refusals: RefusalLog

  /// Never throws: every request is answered.
  func respond(to request: Request, context: ServiceContext) async -> Response {
    let start = ContinuousClock.now
    metrics.begin()
    let peer = Connection.current?.peer
    let forwardedFor = request.headers[values: .forwardedFor]
    let client = IPAddress.client(peer: peer, forwardedFor: forwardedFor, proxies: proxies)
    // Whom a proxy names in a way that cannot be read is not the proxy.
    var call = Call(
      request: request, peer: forwardedFor.isEmpty ? peer : client, client: client, logger: context.logger)
    var limits: TokenBucket.Answer?
    var path = "other"
    var response: Response
    do {
      if let fault = request.headers[.messageFault] {
        throw (MessageFault(rawValue: fault) ?? .host).problem
      }
      call.awaitedContinue = awaitedContinue(request, context)
      switch routes.match(request.method, request.uri.path) {
      case .nothing: throw Problem.notFound
      case .otherMethods(let allow, let template):
        path = template
        var problem = Problem(
          .methodNotAllowed, "method_not_allowed", "The call does not know this method; it knows \(allow).")
        problem.headers[.allow] = allow
        throw problem
      case .route(let route, let parameter):
        path = route.template
        call.parameter = parameter ?? ""
        // What waits to be read or watched may go on; new work is somebody else's.
        if stopping.isStopping, request.method != .get, request.method != .head { throw Problem.stopping }
        try await admit(&call, route.access, &limits)
        response = try await route.handler(call)
      }
    } catch {
      var problem = Problem(error)
      if problem.status == .unauthorized { problem = failures.refusal(of: call) ?? problem }
      if [.tooManyRequests, .serviceUnavailable].contains(problem.status) { metrics.countRefusal(problem.code) }
      if problem.status == .internalServerError,
        refusals.isWritten(RefusalLog.Kind(status: 500, path: "\(path) (\(problem.code))"))
      {
        context.logger.error(
          "A request failed.", metadata: ["code": "\(problem.code)", "error": "\(Problem.loggable(error))"])
      }
      response = problem.response(requestID: context.id)
    }
    response.headers[.requestID] = context.id
    for (name, value) in limits?.headerFields ?? [] {
      guard let name = HTTPField.Name(name), response.headers[name] == nil else { continue }
      response.headers[name] = value
    }
    if request.method == .head { response = response.createHeadResponse() }
    // Whoever still waits may send the body or another request: which of them it is, nobody could tell.
    if stopping.isStopping || call.awaitedContinue?.isSent == false { response.headers[.connection] = "close" }
    let duration = ContinuousClock.now - start
    metrics.end(
      ServiceMetrics.RequestSeries(
        method: Self.countedMethods.contains(request.method) ? request.method.rawValue : "other", path: path,
        status: response.status.code),
      took: duration)
    // Refusals are worth a line, and not a thousand in a second; that all goes well is told by the metrics.
    let isRefusal = response.status.code >= 400
    guard !isRefusal || refusals.isWritten(RefusalLog.Kind(status: response.status.code, path: path)) else {
      return response
    }
    context.logger.log(
      level: isRefusal ? .info : .debug, "request",
      metadata: [
        "method": "\(Self.countedMethods.contains(request.method) ? request.method.rawValue : "other")",
        "path": "\(path)", "status": "\(response.status.code)", "key": "\(call.caller?.logName ?? "-")",
        "ms": "\(Int(duration.inSeconds * 1000))",
      ])
    return response
  }

  private static let countedMethods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .options, .patch]

  /// - Returns: nil when the sender does not wait, or has no body to send.
  private func awaitedContinue(_ request: Request, _ context: ServiceContext) -> AwaitedContinue? {
    guard request.headers[.expect] != nil,
      request.headers[.transferEncoding] != nil || request.headers[.contentLength].map({ $0 != "0" }) == true
    else { return nil }
    return AwaitedContinue { [channel = context.channel] in
      // A connection that is gone has nobody who waits.
      try? await channel.triggerUserOutboundEvent(MessageRules.ContinueRequest())
    }
  }

  /// Lets in who may make a call, as often as they may.
  private func admit(
    _ call: inout Call, _ access: CallAccess, _ limits: inout TokenBucket.Answer?
  ) async throws {
    let scope: Scope
    switch access {
    case .open: return
    case .openByName:
      guard let authority = call.authority.flatMap({ Authority($0) }), names.contain(authority) else {
        throw Problem(
          .misdirectedRequest, "host_unknown",
          "Host: is not one of this service's names; call it by one, or add the name to the setting hosts.")
      }
      return
    case .keyOrSignedURL(let needed):
      if call.query("signature") != nil, call.header(.authorization) == nil { return try urls.check(call.request.uri) }
      scope = needed
    case .key(let needed): scope = needed
    }
    let caller = try await keys.caller(of: &call, failures: failures)
    call.caller = caller
    let answer = keys.admit(caller)
    guard answer.isAllowed else {
      limits = answer
      throw Problem(
        .tooManyRequests, "rate_limited", "The key has sent more requests than it may: wait as Retry-After says.")
    }
    // Last, since it is written down: what the limit refuses may be sent again as it is, and costs no disk.
    try await keys.admitOnce(call, caller)
    limits = answer
    guard caller.scopes.allow(scope) else {
      throw Problem(
        .forbidden, "scope_missing",
        "The key may not make this call: it needs the scope \(scope.rawValue). Make one with crier keys create --scope."
      )
    }
  }
}

/// Whether the service is on its way out.
final class Stopping: Sendable {
  private let state = Locked(false)

  var isStopping: Bool { state.withLock { $0 } }
  func stop() { state.withLock { $0 = true } }
}
