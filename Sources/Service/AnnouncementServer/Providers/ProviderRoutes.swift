// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import ConcurrencySupport
import Foundation
import HTTPTypes
import HostAddresses
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import PaymentProviders
import ServiceAccess
import TextFormats

/// The routes on which payment providers' webhooks arrive, and the routes that show their outcomes.
///
/// A request is admitted if it has the provider's own signature. The field `Authorization` may belong to that
/// signature. It then contains no key of Crier, and a wrong value does not count as a failed key.
struct ProviderRoutes: Sendable {
  static let path = "/v1/providers/{provider}/{endpoint}"

  let endpoints: ProviderEndpoints
  let payments: ProviderPayments
  let telling: ProviderTelling
  let ledger: any Ledger.ProviderPaymentStore
  let unproven: UnprovenBodies
  /// Counts rejected requests by address. Failed keys are counted elsewhere.
  let rejections: FailureGate
  /// The proxies that end TLS for the service; this machine by default.
  let proxies: Set<IPAddress>
  let now: @Sendable () -> Date

  var routes: [Route] {
    [
      .post(Self.path, .open, isOnLoop: true) { try await post($0, suffix: nil) },
      // Some providers append a segment of their own to the URL, as Pix does.
      .post("/v1/providers/{provider}/{endpoint}/{suffix}", .open, isOnLoop: true) {
        try await post($0, suffix: $0.parameter)
      },
      .get("/v1/provider-endpoints", .key(.read), list),
      testRoute,
    ]
  }

  // MARK: Taking

  /// The largest body, in bytes, that is judged on the event loop of its connection. Real webhooks have 1 to 8 KB.
  /// Judging one takes about 30 µs, which is less than waking another thread takes. A larger body is judged on another
  /// thread.
  private static let largestOnLoop = 16 * 1024

  private func post(_ call: Call, suffix: String?) async throws -> Response {
    guard let endpoint = endpoints.endpoint(call.parameters[1]), endpoint.provider.rawValue == call.parameters[0],
      suffix == nil || endpoint.mapping?.pathSuffix == "/\(suffix ?? "")"
    else {
      // While the settings cannot be used, the service does not know whether there is such an endpoint.
      throw endpoints.fault == nil ? Self.unknown : Self.off
    }
    // The address of the connection itself is checked, because a header that names the client proves nothing.
    if !endpoint.isSigned, let peer = Connection.current?.peer, !proxies.contains(peer) { throw Self.notEncrypted }
    let body = try await unproven.read(
      call, keyID: "provider \(endpoint.id)", upTo: ProviderRequest.largestBody)
    let request = ProviderRequest(
      headers: call.request.headers.map { ($0.name.rawName, $0.value) }, body: body, query: call.request.uri.query)
    let date = now()
    let judgement =
      body.count <= Self.largestOnLoop
      ? endpoint.judge(request, at: date) : await onWaitingThread { endpoint.judge(request, at: date) }
    guard judgement.isVerified else { return reject(judgement, call, endpoint, at: date) }
    telling.history.noteRequest(of: endpoint.id, at: date)
    // The clocks are compared if the provider signed a time. A rejection contains the difference itself.
    if let signedAt = judgement.signedAt {
      telling.tell(skew: Int64(signedAt.timeIntervalSince(date).rounded()), of: endpoint)
    }
    let decision = endpoints.admit(endpoint.id)
    guard decision.isAllowed else {
      telling.history.note(.failed, reason: "rate_limited", of: endpoint.id, at: date)
      return response(endpoint, .failed(status: 429), retryAfter: decision.retryAfter)
    }
    do {
      _ = try await take(judgement, of: body, for: endpoint, at: date)
      return response(endpoint, judgement.verdict)
    } catch {
      return response(endpoint, .failed(status: 503), retryAfter: .seconds(30))
    }
  }

  /// Answers a request that does not prove that the provider sent it. An address that sends many such requests is
  /// answered with 429, and no more of them are reported. Genuine requests from the same address are not held back: a
  /// provider's address also sends the webhooks of its other customers, who may have registered this URL.
  private func reject(
    _ judgement: ProviderJudgement, _ call: Call, _ endpoint: ProviderEndpoint, at date: Date
  ) -> Response {
    guard let rejection = judgement.rejection else { return response(endpoint, judgement.verdict) }
    // A probe is part of the provider's work, and a request with an unknown key may be genuine.
    if rejection.code != .probe, rejection.code != .keyUnknown, rejections.refusal(of: call) != nil {
      return response(endpoint, .failed(status: 429), retryAfter: .seconds(60))
    }
    telling.tell(rejection, of: endpoint, at: date)
    return response(endpoint, judgement.verdict)
  }

  /// Stores the outcomes of a verified request, and reports the results.
  ///
  /// - Returns: The result of each outcome of the request.
  /// - Throws: `LedgerError` if nothing could be stored.
  func take(
    _ judgement: ProviderJudgement, of body: Data, for endpoint: ProviderEndpoint, at date: Date
  ) async throws -> [ProviderPayments.Result] {
    do {
      let results: [ProviderPayments.Result] =
        if let fault = judgement.fault { [.refused(fault.message)] } else {
          try await payments.take(judgement.outcomes, of: body, for: endpoint, at: date)
        }
      telling.tell(results, of: endpoint, at: date)
      return results
    } catch {
      telling.history.note(.failed, reason: Problem(error).code, of: endpoint.id, at: date)
      throw error
    }
  }

  private func response(
    _ endpoint: ProviderEndpoint, _ verdict: ProviderVerdict, retryAfter: Duration? = nil
  ) -> Response {
    let answer = endpoint.answer(to: verdict)
    var response = Response(
      status: HTTPResponse.Status(code: answer.status), headers: [.cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    if let type = answer.contentType { response.headers[.contentType] = type }
    if let retryAfter { response.headers[.retryAfter] = String(max(1, retryAfter.components.seconds + 1)) }
    return response
  }

  private static let unknown = Problem.notFound(
    "There is no endpoint for a provider with this path. crier providers list prints the URLs.")
  static let off = Problem(
    .serviceUnavailable, "providers_unavailable",
    "The settings of the providers cannot be used. See the service's log, or run crier providers list.", retryAfter: 60)
  private static let notEncrypted = Problem(
    .forbidden, "not_encrypted",
    "The provider does not sign this request, so it is accepted only from this machine, "
      + "or over TLS from a proxy in the setting 'proxies'.")

  // MARK: Showing

  private struct Line: Encodable {
    struct Payment: Encodable {
      var at: Date
      @ExplicitNull var id: String?
      @ExplicitNull var kind: String?
      @ExplicitNull var amount: String?
      @ExplicitNull var currency: String?
      var state: String
      @ExplicitNull var reason: String?
    }

    var id: String
    var provider: String
    var path: String
    var signed: Bool
    var live: Bool
    var kinds: [String]
    var deliver: [String]
    @ExplicitNull var locale: String?
    @ExplicitNull var lastRequestAt: Date?
    @ExplicitNull var clockSkewSeconds: Int64?
    var counts: [String: Int]
    var payments: [Payment]
    var recent: [ProviderHistory.Entry]
  }

  private struct List: Encodable {
    var endpoints: [Line]
    /// The reason why the present settings are not in force; nil if they are.
    @ExplicitNull var problem: String?
  }

  /// The number of payments of an endpoint that are shown.
  private static let mostPayments = 50

  private func list(_ call: Call) async throws -> Response {
    let sender = try call.sender
    var lines: [Line] = []
    for endpoint in endpoints.all where endpoint.account == sender.account || sender.isAdmin {
      let known = telling.history.endpoint(endpoint.id)
      let payments = try await ledger.providerPayments(
        account: endpoint.account, endpoint: endpoint.id, limit: Self.mostPayments)
      lines.append(
        Line(
          id: endpoint.id, provider: endpoint.provider.rawValue,
          path: endpoint.path, signed: endpoint.isSigned,
          live: endpoint.isLive, kinds: endpoint.kinds.map(\.rawValue).sorted(),
          deliver: endpoint.deliver.map(\.rawValue).sorted(), locale: endpoint.locale,
          lastRequestAt: known.lastRequestAt, clockSkewSeconds: known.skew,
          counts: Dictionary(
            uniqueKeysWithValues: ProviderHistory.Outcome.allCases.map { ($0.rawValue, known.counts[$0] ?? 0) }),
          payments: payments.map { payment in
            Line.Payment(
              at: payment.receivedAt, id: payment.id, kind: payment.kind, amount: payment.amount,
              currency: payment.currency, state: payment.state.rawValue, reason: payment.reason)
          },
          recent: known.recent))
    }
    // The text may name files of this machine.
    let problem = sender.isAdmin ? endpoints.fault : endpoints.fault.map { _ in "The settings cannot be used." }
    return try ServiceJSON.response(.ok, List(endpoints: lines, problem: problem))
  }
}
