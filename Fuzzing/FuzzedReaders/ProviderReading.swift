// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import ProviderSettings

/// Checks that only requests with a valid signature give payments.
enum ProviderReading {
  static let now = Date(timeIntervalSince1970: 1_790_000_000)
  private static let fuzzed = ProviderSender.all
  /// The answers of providers: success, a wrong signature, and a key that is not set.
  private static let statuses: Set<Int> = [200, 204, 401, 500]

  /// Checks an input. Its first line is the name of a sender, the second one the URL's query, and then come header
  /// fields, an empty line, and the body.
  @Sendable static func check(_ bytes: [UInt8]) {
    guard let input = ProviderInput(bytes), let sender = fuzzed[input.name] else { return }
    let given = ProviderRequest(headers: input.headers, body: input.body, query: input.query)
    let judged = judge(given, sender)
    // Each process makes new keys, so no input can have a signature or token that was made with them.
    require(!judged.isVerified, "a request that was not signed with the endpoint's keys is rejected")

    guard let signed = sender.sign(input.body) else { return }
    let judgement = judge(signed, sender)
    if sender.signsAnyBody {
      require(judgement.isVerified, "a request that was signed with the endpoint's keys is accepted")
    }
    let payments = Set(judgement.payments.map(Announced.init))
    for payment in judgement.payments {
      require(payment.amount.minorUnits > 0, "a payment has a sum")
      require((1...240).contains(payment.identity.utf8.count), "a payment has an id")
    }
    for request in changed(signed, by: input) {
      let other = judge(request, sender)
      guard sender.isSigned, other.isVerified else { continue }
      require(payments.isSuperset(of: other.payments.map(Announced.init)), "a changed request gives no other payment")
      if sender.signsAnyBody { require(request.body == signed.body, "a changed body is rejected") }
    }
    for seconds in [-400.0, 400] where sender.signsTime {
      let other = sender.endpoint.judge(signed, at: now.addingTimeInterval(seconds))
      require(!other.isVerified, "a request is rejected when its signed time is too far away")
    }
  }

  private struct Announced: Hashable {
    let identity: String
    let kind: Payment.Kind
    let amount: Money

    init(_ payment: ProviderPayment) { (identity, kind, amount) = (payment.identity, payment.kind, payment.amount) }
  }

  private static func judge(_ request: ProviderRequest, _ sender: ProviderSender) -> ProviderJudgement {
    let judgement = sender.endpoint.judge(request, at: now)
    require(judgement.isVerified || judgement.outcomes.isEmpty, "a rejected request gives no payment")
    require(
      statuses.contains(sender.endpoint.answer(to: judgement.verdict).status), "the answer is one of the providers'")
    return judgement
  }

  /// Returns the request with changes of its body and its header fields, which the input chooses.
  private static func changed(_ request: ProviderRequest, by input: ProviderInput) -> [ProviderRequest] {
    let number = input.body.reduce(input.headers.count) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
    var longer = request
    longer.body.append(UInt8(number & 0xFF))
    var requests = [longer]
    if !request.body.isEmpty {
      var flipped = request
      flipped.body[flipped.body.startIndex + number % flipped.body.count] ^= 1 << UInt8(number % 8)
      requests.append(flipped)
    }
    for (index, header) in request.headers.enumerated() {
      var other = request
      other.headers[index].value = input.headers.first?.value ?? String(header.value.dropLast())
      var twice = request
      twice.headers.append(header)
      requests += [other, twice]
    }
    var more = request
    more.headers += input.headers
    more.query = [request.query, input.query].compactMap(\.self).joined(separator: "&")
    return requests + [more]
  }
}

/// The parts of an input.
struct ProviderInput {
  let name: String
  let query: String?
  let headers: [(name: String, value: String)]
  let body: Data

  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    func line() -> String? {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return String(decoding: rest[..<end], as: UTF8.self)
    }
    guard let name = line(), let query = line() else { return nil }
    var headers: [(name: String, value: String)] = []
    while let header = line(), !header.isEmpty {
      let parts = header.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if parts.count == 2 { headers.append((parts[0], parts[1])) }
    }
    (self.name, self.query, self.headers, body) = (name, query.isEmpty ? nil : query, headers, Data(rest))
  }
}
