// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings

/// Checks the readers of `providers.yaml` and of mapping files.
enum ProviderSettingsReading {
  /// Checks an input as both kinds of file. A mapping file that can be read then judges its own samples: signed ones,
  /// and ones whose end was cut off.
  @Sendable static func check(_ bytes: [UInt8]) {
    let yaml = Data(bytes)
    let mapping = try? MappingFile(yaml: yaml, file: "fuzzed.yaml").mapping
    do {
      let file = try ProvidersFile(yaml: yaml, file: "providers.yaml") { (_) throws(ProviderSettingsError) in
        throw ProviderSettingsError(.fileUnreadable, file: "x.yaml", "is missing", remedy: "add it")
      }
      require(Set(file.endpoints.map(\.id)).count == file.endpoints.count, "the ids of endpoints differ")
    } catch {
      require(!"\(error)".isEmpty, "an error says what is wrong")
    }
    guard let mapping else { return }
    for sample in mapping.samples {
      var endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
      endpoint.mapping = mapping
      endpoint.secrets = sample.secret.map { [$0] } ?? []
      endpoint.publicKeys = sample.publicKey.map { ["key": $0] } ?? [:]
      var request = sample.signedRequest(by: mapping)
      for _ in 0..<2 {
        let judgement = endpoint.judge(request, at: sample.now)
        require(judgement.isVerified || judgement.payments.isEmpty, "a rejected request gives no payment")
        require(endpoint.answer(to: judgement.verdict).status >= 200, "every request has an answer")
        request.body = request.body.dropLast()
      }
    }
  }
}
