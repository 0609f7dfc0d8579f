// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import TestSupport

/// Requests made from a genuine one by random changes. The same seed makes the same requests.
struct ChangedRequests {
  /// The genuine request.
  let request: ProviderRequest
  /// Texts that are put into bodies: they may mean something to the provider.
  let texts: [String]
  private var generator: SplitMix64

  init(of request: ProviderRequest, texts: [String], seed: UInt64) {
    (self.request, self.texts) = (request, texts)
    generator = SplitMix64(seed: seed)
  }

  /// Returns the next request. It differs from the genuine one.
  mutating func next() -> ProviderRequest {
    var changed = request
    repeat {
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        if changed.headers.isEmpty || Int.random(in: 0..<3, using: &generator) > 0 {
          change(&changed.body)
        } else {
          changeHeader(of: &changed)
        }
      }
    } while changed.body == request.body && meaningful(changed.headers) == meaningful(request.headers)
    return changed
  }

  /// Returns the header fields that have a name of the genuine request's, without their order, which says nothing.
  private func meaningful(_ headers: [(name: String, value: String)]) -> [String] {
    let names = Set(request.headers.map { $0.name.lowercased() })
    return headers.filter { names.contains($0.name.lowercased()) }.map { "\($0.name.lowercased()): \($0.value)" }
      .sorted()
  }

  private mutating func change(_ body: inout Data) {
    let place = Int.random(in: 0...body.count, using: &generator)
    let end = Int.random(in: place...min(body.count, place + 40), using: &generator)
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: body.removeSubrange(place..<end)
    case 1: body.insert(contentsOf: body[place..<end], at: Int.random(in: 0...body.count, using: &generator))
    case 2: body.insert(contentsOf: Data((texts.randomElement(using: &generator) ?? "").utf8), at: place)
    case 3:
      body.replaceSubrange(place..<end, with: Data((texts.randomElement(using: &generator) ?? "").utf8))
    case 4: body = body.prefix(place)
    case 5: body.insert(UInt8.random(in: 0...255, using: &generator), at: place)
    default:
      guard place < body.count else { return }
      body[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    }
    body = Data(body)
  }

  private mutating func changeHeader(of request: inout ProviderRequest) {
    let place = Int.random(in: request.headers.indices, using: &generator)
    var header = request.headers[place]
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: request.headers.remove(at: place)
    case 1: request.headers.insert(header, at: Int.random(in: 0...request.headers.count, using: &generator))
    case 2: request.headers[place].value = texts.randomElement(using: &generator) ?? ""
    case 3: request.headers[place].name += "x"
    case 4:
      header.name = header.name.uppercased()
      header.value = String(header.value.reversed())
      request.headers.append(header)
    default:
      var bytes = Data(header.value.utf8)
      change(&bytes)
      request.headers[place].value = String(decoding: bytes, as: UTF8.self)
    }
  }
}
