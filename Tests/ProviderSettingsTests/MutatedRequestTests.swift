// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import ProviderSettings
import TestSupport
import Testing

@Suite("Changed requests to shipped mapping files")
struct MutatedRequestTests {
  private struct Announced: Hashable {
    let identity: String
    let kind: Payment.Kind
    let amount: Money
  }

  @Test(
    "a changed request without a valid signature or token announces no payment other than the original one",
    arguments: ShippedMappings.names)
  func mutations(name: String) throws {
    let mapping = try ShippedMappings.file(name).mapping
    var generator = SplitMix64(seed: 20_261_127)
    for sample in mapping.samples {
      var endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
      endpoint.mapping = mapping
      endpoint.secrets = sample.secret.map { [$0] } ?? []
      endpoint.publicKeys = sample.publicKey.map { ["key": $0] } ?? [:]
      endpoint.kinds = Set(Payment.Kind.allCases)
      let original = sample.signedRequest(by: mapping)
      var expected: Set<Announced> = []
      for isLive in [true, false] {
        endpoint.isLive = isLive
        expected.formUnion(announced(endpoint.judge(original, at: sample.now)))
      }
      endpoint.isLive = true
      for _ in 0..<400 {
        var request = original
        for _ in 0...Int.random(in: 0..<3, using: &generator) { Self.mutate(&request, &generator) }
        endpoint.isLive.toggle()
        let judgement = endpoint.judge(request, at: sample.now)
        #expect([200, 401, 500].contains(endpoint.answer(to: judgement.verdict).status))
        guard mapping.isSigned else {
          // The scheme has only the token, which must be there as it was sent.
          if judgement.isVerified { #expect(Self.hasToken(request, of: sample, mapping)) }
          continue
        }
        #expect(announced(judgement).isSubset(of: expected))
        if judgement.isVerified, mapping.verification.coverage == .wholeBody { #expect(request.body == original.body) }
      }
    }
  }

  private func announced(_ judgement: ProviderJudgement) -> Set<Announced> {
    Set(judgement.payments.map { Announced(identity: $0.identity, kind: $0.kind, amount: $0.amount) })
  }

  private static func hasToken(
    _ request: ProviderRequest, of sample: MappingSample, _ mapping: ProviderMapping
  ) -> Bool {
    var bare = ProviderRequest(headers: [], body: request.body)
    bare = sample.secret.flatMap { mapping.signed(bare, with: $0, at: sample.now) } ?? bare
    switch mapping.verification.place {
    case .header(let name):
      let values = request.headers.filter { $0.name.lowercased() == name.lowercased() }.map { $0.value.lowercased() }
      return values == bare.headers.map { $0.value.lowercased() }
    case .query: return bare.query.map { request.query?.removingPercentEncoding?.contains($0) == true } ?? false
    default: return false
    }
  }

  private static func mutate(_ request: inout ProviderRequest, _ generator: inout SplitMix64) {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4:
      guard let index = request.body.indices.randomElement(using: &generator) else { return }
      request.body[index] = UInt8.random(in: 0...255, using: &generator)
    case 4:
      guard !request.body.isEmpty else { return }
      request.body.removeSubrange(Int.random(in: 0..<request.body.count, using: &generator)...)
    case 5:
      let text = ["{}", "[", "null", "\"", "\u{0}", "1e400", "&a=1", "%"].randomElement(using: &generator) ?? ""
      request.body.insert(contentsOf: Data(text.utf8), at: Int.random(in: 0...request.body.count, using: &generator))
    case 6:
      guard let index = request.headers.indices.randomElement(using: &generator) else { return }
      request.headers.remove(at: index)
    case 7:
      guard let header = request.headers.randomElement(using: &generator) else { return }
      request.headers.append(header)
    case 8:
      guard let index = request.headers.indices.randomElement(using: &generator) else { return }
      request.headers[index].value = changed(request.headers[index].value, &generator)
    default:
      request.query = changed(request.query ?? "", &generator)
    }
  }

  private static func changed(_ text: String, _ generator: inout SplitMix64) -> String {
    var scalars = Array(text.unicodeScalars)
    let other: [Unicode.Scalar] = ["0", "A", "=", ",", " ", "%", "&", "é", "\u{301}", "\u{0}"]
    let scalar = other.randomElement(using: &generator) ?? "0"
    if let index = scalars.indices.randomElement(using: &generator), Bool.random(using: &generator) {
      scalars[index] = scalar
    } else {
      scalars.insert(scalar, at: Int.random(in: 0...scalars.count, using: &generator))
    }
    return String(String.UnicodeScalarView(scalars))
  }
}
