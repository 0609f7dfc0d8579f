// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Any provider that a mapping file describes.
package struct MappingProvider: PaymentProvider {
  /// The most payments in one request.
  private static let mostPayments = 1_000

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    guard let mapping = endpoint.mapping else {
      throw ProviderRejection(.malformed, "The endpoint has no mapping file.")
    }
    let signedAt: Date?
    do throws(ProviderRejection) {
      signedAt = try mapping.verification.check(
        request, for: endpoint, mapping.body, pathSuffix: mapping.pathSuffix, at: now)
    } catch {
      guard error.code == .signatureMissing, mapping.isPing(request) else { throw error }
      throw ProviderRejection(.probe, "The provider tests whether the URL answers.")
    }
    if mapping.body == .form { _ = try mapping.body.fields(of: request.body) }
    return VerifiedWebhook(request, signedAt: signedAt)
  }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let mapping = endpoint.mapping else { return [.refused("The endpoint has no mapping file.")] }
    let root = try? mapping.body.fields(of: webhook.body)
    let place = RequestPlace(request: webhook.request, root: root, element: root)
    guard let root else { return [mapping.outcomeOfUnreadable(place)] }
    guard let each = mapping.payment.each else {
      let outcome = mapping.outcome(place)
      guard let payment = outcome.payment, (try? mapping.verification.isAmbiguous(place)) != false else {
        return [outcome]
      }
      return [
        .refused(
          "The signed values are joined without separators and can be divided in two ways, so another payment has the "
            + "same signature. Look at the payment in the provider's dashboard.", id: payment.id)
      ]
    }
    guard let elements = each.value(in: root)?.elements else {
      // A test event of the provider has no array. The table can still recognise the event.
      let outcome = mapping.outcome(RequestPlace(request: webhook.request, root: root))
      return outcome.ignoredReason == nil ? [.refused("The body has no array at \(each).")] : [outcome]
    }
    guard elements.count <= Self.mostPayments else {
      return [.refused("The array at \(each) has more than \(Self.mostPayments) elements.")]
    }
    guard !elements.isEmpty else { return [.ignored("no payments")] }
    return elements.map { mapping.outcome(RequestPlace(request: webhook.request, root: root, element: $0)) }
  }

  package func answer(to verdict: ProviderVerdict, for endpoint: ProviderEndpoint) -> ProviderAnswer {
    let accepted = endpoint.mapping?.accepted ?? ProviderAnswer(status: 200)
    return switch verdict {
    case .accepted: accepted
    // A request with an unknown key can be accepted once the key is set, so the provider must send it again, even if
    // the mapping file answers other rejections in another way.
    case .rejected(let rejection) where rejection.code == .keyUnknown: ProviderAnswer(status: verdict.status)
    case .rejected(let rejection) where rejection.code == .probe: accepted
    case .rejected: endpoint.mapping?.rejected ?? ProviderAnswer(status: 401)
    case .failed(let status): ProviderAnswer(status: status)
    }
  }
}

extension ProviderMapping.BodyFormat {
  /// Returns a body's fields; nil if it does not have the form that the mapping file names.
  ///
  /// - Throws: `.headerRepeated` for a key that a form has twice.
  func fields(of content: Data) throws(ProviderRejection) -> JSONFields? {
    switch self {
    case .json: return JSONFields(content)
    case .form:
      return try FormFields(content, plusIsSpace: true).map { form throws(ProviderRejection) in
        JSONFields(.object(try form.values().mapValues(PayloadValue.string)))
      }
    }
  }
}

extension ProviderMapping {
  fileprivate func isPing(_ request: ProviderRequest) -> Bool {
    guard let unsignedPing, let pairs = FormFields(request.body, plusIsSpace: true)?.pairs else { return false }
    return pairs.count == 1 && pairs[0].key == unsignedPing
  }

  /// Returns the outcome of a body that cannot be read. Only rows that use no value of the body can decide this
  /// outcome.
  fileprivate func outcomeOfUnreadable(_ place: RequestPlace) -> ProviderOutcome {
    let row = kinds.first { row in
      !row.when.isEmpty && row.when.allSatisfy { !$0.source.isInBody } && (try? row.fits(place)) == true
    }
    if let row, row.meaning == .ignored { return .ignored(row.because ?? "a body that cannot be read") }
    return .refused(body == .json ? "The body is not strict JSON." : "The body is not a form in UTF-8.")
  }

  fileprivate func outcome(_ place: RequestPlace) -> ProviderOutcome {
    do throws(ProviderRejection) {
      var row: MappingRow?
      for candidate in kinds where try candidate.fits(place) {
        row = candidate
        break
      }
      guard let row else { return .ignored(event(place)) }
      switch row.meaning {
      case .ignored: return .ignored(row.because ?? event(place))
      case .refused: return .refused(row.because ?? "The mapping file refuses requests of this kind.")
      case .payment(let kind): return try paymentOutcome(kind, place)
      }
    } catch {
      return .refused(error.message)
    }
  }

  /// Returns the name of the event in a request for which no row of the table fits. It is the value at the place that
  /// the first row of the table reads.
  private func event(_ place: RequestPlace) -> String {
    guard let source = kinds.first?.when.first?.source, case .string(let text) = (try? source.value(in: place))?.value,
      text.utf8.count <= 64, JSONFields(.string(text)).id != nil
    else { return "a request that matches no row under 'kinds' in the mapping file" }
    return text
  }

  private func paymentOutcome(
    _ kind: Payment.Kind, _ place: RequestPlace
  ) throws(ProviderRejection) -> ProviderOutcome {
    for source in payment.required where try source.value(in: place) == nil { return missing(source) }
    guard let id = try joined(payment.id, place) else { return missing(payment.id.first) }
    let identity = payment.identity.isEmpty ? id : try joined(payment.identity, place)
    guard let identity else { return missing(payment.identity.first) }
    guard let currency = try payment.currency.value(in: place)?.text else { return missing(payment.currency) }
    let outcome: ProviderOutcome
    switch payment.amount {
    case .major(let source):
      guard let text = try source.value(in: place)?.characters else { return missing(source) }
      outcome = ProviderOutcome(id: id, kind, major: text, currency)
    case .minor(let source, let digits):
      guard let units = try source.value(in: place)?.wholeNumber else {
        return .refused("The request has no whole number of minor units at \(source.name).")
      }
      outcome = ProviderOutcome(id: id, kind, minor: units, currency, digits)
    }
    guard var found = outcome.payment else { return outcome }
    if !payment.identity.isEmpty {
      (found.identity, found.reference) = (kind == .failed ? identity + "/failed" : identity, identity)
    }
    if let time = payment.time, let value = try time.source.value(in: place) {
      guard let date = time.format.date(value) else {
        return .refused("The time at \(time.source.name) cannot be read.")
      }
      found.occurredAt = date
    }
    if let live = payment.live, let value = try live.source.value(in: place) {
      let word = value.word ?? ""
      guard live.live.contains(word) != live.test.contains(word) else {
        return .refused("The value at \(live.source.name) says neither that the payment is live nor that it is a test.")
      }
      found.isLive = live.live.contains(word)
    }
    found.merchant = try payment.merchant?.value(in: place)?.id
    found.payer = try payment.payer?.value(in: place)?.text
    found.note = try payment.note?.value(in: place)?.text
    found.channel = try payment.channel?.value(in: place)?.text
    return .payment(found)
  }

  private func missing(_ source: ValueSource?) -> ProviderOutcome {
    .refused("The request has nothing usable at \(source?.name ?? "").")
  }

  /// Returns an id made of parts; nil if a part is missing or is not valid in an id.
  private func joined(_ parts: [ValueSource], _ place: RequestPlace) throws(ProviderRejection) -> String? {
    var id = ""
    for part in parts {
      guard let value = try part.value(in: place)?.id else { return nil }
      id += value
    }
    return JSONFields(.string(id)).id
  }
}

extension MappingRow {
  fileprivate func fits(_ place: RequestPlace) throws(ProviderRejection) -> Bool {
    for condition in when {
      guard let value = try condition.source.value(in: place) else {
        guard condition.values.contains(nil) else { return false }
        continue
      }
      guard let word = value.word, condition.values.contains(word) else { return false }
    }
    return true
  }
}

extension JSONFields {
  /// The characters of a string, a number, true or false; nil for a list or an object.
  fileprivate var word: String? { characters ?? boolean.map { $0 ? "true" : "false" } }
}

extension PaymentFields.TimeFormat {
  private static let firstSecondOfYear10000: TimeInterval = 253_402_300_800

  fileprivate func date(_ value: JSONFields) -> Date? {
    switch self {
    case .rfc3339: return value.text.flatMap(Timestamp.date)
    case .seconds, .milliseconds:
      guard let number = value.wholeNumber else { return nil }
      let seconds = TimeInterval(number) / (self == .seconds ? 1 : 1_000)
      // No calendar has later times, and formatting a later time could end the process.
      return seconds < Self.firstSecondOfYear10000 ? Date(timeIntervalSince1970: seconds) : nil
    case .local(let offset):
      guard let text = value.text, text.utf8.count == 19 else { return nil }
      return Timestamp.date(text.prefix(10) + "T" + text.dropFirst(11) + offset)
    }
  }
}
