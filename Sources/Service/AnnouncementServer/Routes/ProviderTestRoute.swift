// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Foundation
import HTTPTypes
import Hummingbird
import PaymentProviders
import ServiceAccess
import TextFormats

/// The test of an endpoint for a provider's webhooks: a payment that was never made goes the whole way from the
/// signature to the sound.
extension ProviderRoutes {
  var testRoute: Route { .post("/v1/provider-endpoints/{id}/test", .key(.announce), test) }

  /// The outcome of a test with a payment that was never made.
  private struct Test: Encodable {
    @ExplicitNull var id: String?
    var outcome: String
    @ExplicitNull var reason: String?

    /// - Parameter text: A sentence that says what happens to a payment that is accepted.
    init(_ judgement: ProviderJudgement, _ results: [ProviderPayments.Result], accepted text: String) {
      id = judgement.payments.first?.id
      switch results.first {
      case .accepted: (outcome, reason) = (ProviderHistory.Outcome.accepted.rawValue, text)
      case .late: (outcome, reason) = (ProviderHistory.Outcome.late.rawValue, nil)
      case .duplicate: (outcome, reason) = (ProviderHistory.Outcome.duplicate.rawValue, nil)
      case .ignored(let why): (outcome, reason) = (ProviderHistory.Outcome.ignored.rawValue, why)
      case .refused(let why): (outcome, reason) = (ProviderHistory.Outcome.refused.rawValue, why)
      case nil:
        let outcome: ProviderHistory.Outcome = judgement.isVerified ? .ignored : .rejected
        (self.outcome, reason) = (outcome.rawValue, judgement.rejection?.message)
      }
    }
  }

  /// Signs a request about a payment that was never made, and processes it like a request of the provider.
  ///
  /// The clocks are not compared, because this service signs the request. The test does not count as the endpoint's
  /// last request, because the time of that request shows whether the provider reaches the service. The test counts
  /// towards the provider's limit.
  private func test(_ call: Call) async throws -> Response {
    let sender = try call.sender
    guard let endpoint = endpoints.endpoint(call.parameter), endpoint.account == sender.account || sender.isAdmin
    else { throw endpoints.fault == nil ? Self.unknownID : Self.off }
    let date = now()
    // Each test has an id of its own, so that two tests count as two payments.
    let id = "\(ProviderPayments.testMark)\(RandomID.make().prefix(12))"
    guard let request = endpoint.provider.provider.sample(id: id, for: endpoint, at: date) else {
      throw Self.unsignable
    }
    var judgement = endpoint.judge(request, at: date)
    // The id of the test cannot be put into every sample: some mapping files have numbers as ids, and an id that is not
    // signed stays as it is in the sample.
    judgement.outcomes = judgement.outcomes.map { outcome in
      outcome.with { if !$0.id.contains(id) { ($0.id, $0.identity) = (id, id) } }
    }
    let results = judgement.isVerified ? try await take(judgement, of: request.body, for: endpoint, at: date) : []
    let isHeard = endpoint.deliver.contains(.play)
    return try ServiceJSON.response(
      .ok,
      Test(
        judgement, results,
        accepted: "The test payment is announced like a real one\(isHeard ? ", so the shop hears it" : "")."))
  }

  private static let unknownID = Problem.notFound("The account has no endpoint for a provider with this id.")
  private static let unsignable = Problem(
    .conflict, "provider_test_unavailable",
    "The service cannot sign a test for this endpoint, because only the provider has the key, or the mapping file has no sample that can be signed. Make a small payment, or check a saved request with crier providers check."
  )
}
