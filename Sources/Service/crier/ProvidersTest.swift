// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PaymentProviders
import TextFormats

extension Providers {
  struct Test: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Posts a sample payment to the service, signed with the endpoint's secret.",
      discussion: """
        The payment is 1.00 of a currency, or the payment of the mapping file's first sample, and has a new id each \
        time. The service treats it as a payment of the provider: the payment is heard, counted among the sums, \
        and sent to webhooks. The button in the console tests an endpoint without counting the payment.

        A provider that signs with a private key of its own cannot be imitated: save one of its requests, and run crier \
        providers check.

        Exit status: 0 if the service accepted the payment; 65 if the service refused the payment; 69 if the \
        service cannot be reached or has failed.

        EXAMPLES
          crier providers test till
          crier providers test till --url https://shop.example
        """)

    @Argument(help: "The id of the endpoint.")
    var endpoint: String

    @Option(help: "The address of the service. (default: from the settings 'host' and 'port')")
    var url: String?

    @Flag(help: "Print one line of JSON: endpoint, id, status, answer.")
    var json = false

    @OptionGroup var providers: ProviderOptions

    func validate() throws { try BaseAddress.check("--url", url) }

    func perform() async throws {
      let endpoint = try providers.endpoint(self.endpoint)
      let id = "criertest" + String(UInt64.random(in: 0 ... .max), radix: 16)
      let now = Date()
      guard let sample = endpoint.provider.provider.sample(id: id, for: endpoint, at: now) else {
        throw CommandError.noSample(of: endpoint)
      }
      let judgement = endpoint.judge(sample, at: now)
      let answer = try await post(sample, to: try address(), endpoint.path)
      let line = AnswerLine(
        endpoint: endpoint.id, id: judgement.payments.first?.id, status: answer.status, answer: answer.body)
      try StandardOutput.write(json ? try line.jsonLine : line.text)
      if let reason = judgement.outcomes.first?.ignoredReason {
        Terminal.note("crier: The endpoint ignores the sample: \(Terminal.printable(reason)).")
      }
      guard (200...299).contains(answer.status) else { throw CommandError.sampleRefused(answer.status) }
    }

    /// Returns the address of the service: the address given as an option, or else the one on which a service with this
    /// home listens.
    private func address() throws -> String {
      if let url { return BaseAddress(url)?.text ?? url }
      let settings = try providers.home.serviceSettings()
      return "http://\(settings.authority(port: settings.port))"
    }

    private func post(
      _ sample: ProviderRequest, to service: String, _ path: String
    ) async throws -> (status: Int, body: String) {
      var request = HTTPClientRequest(url: service + path + (sample.query.map { "?\($0)" } ?? ""))
      request.method = .POST
      for header in sample.headers { request.headers.add(name: header.name, value: header.value) }
      request.body = .bytes(ByteBuffer(bytes: sample.body))
      // A redirect must not turn the request into a different one.
      let client = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
      let answer: Result<(status: Int, body: String), any Error>
      do {
        let response = try await client.execute(request, timeout: .seconds(15))
        let body = try await response.body.collect(upTo: 64 * 1_024)
        answer = .success((Int(response.status.code), String(decoding: body.readableBytesView, as: UTF8.self)))
      } catch {
        answer = .failure(
          CommandError(
            69, "\(service): the service does not answer; start it, or give its address with --url.\nCause: \(error)"))
      }
      try await client.shutdown()
      return try answer.get()
    }
  }
}

extension CommandError {
  /// The error for an endpoint whose requests only the provider can sign.
  fileprivate static func noSample(of endpoint: ProviderEndpoint) -> CommandError {
    let reason =
      switch endpoint.provider {
      case .wechatpay: "only WeChat Pay has the private key that signs"
      case .alipay: "only Alipay has the private key that signs"
      case .mapping: "its mapping file has no sample of a payment that can be signed here"
      case .stripe, .razorpay, .square, .adyen, .standardWebhooks: "only the sender has the private key that signs"
      }
    return CommandError(
      64,
      "ENDPOINT \(endpoint.id): \(reason), so there is no sample; save a request of the provider, and run crier "
        + "providers check \(endpoint.id).")
  }

  /// The error of a sample that the service did not accept. The line on standard output has the service's answer.
  fileprivate static func sampleRefused(_ status: Int) -> CommandError {
    let problem =
      switch status {
      case 401:
        "The service could not verify that the sample comes from the provider. It may use another providers.yaml, or an "
          + "earlier version of the file."
      case 404: "The service has no such endpoint. It may have another home folder, or an error in its providers.yaml."
      default: "The service did not accept the sample."
      }
    // The service may accept the sample later.
    return CommandError(status == 429 || status >= 500 ? 69 : 65, problem)
  }
}

/// The output of `crier providers test`.
private struct AnswerLine: Encodable {
  var endpoint: String
  /// The id of the payment; nil if the endpoint does not announce the sample.
  @ExplicitNull var id: String?
  var status: Int
  var answer: String

  var text: String {
    let answer = answer.isEmpty ? "" : ": \(answer)"
    return Terminal.printable("\(endpoint): \(id.map { "payment \($0), " } ?? "")answered with \(status)\(answer)")
  }
}
