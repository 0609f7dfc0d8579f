// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import Testing

@Suite("crier providers")
struct ProvidersCommandTests {
  private static let secret = "whsec_of-this-test"
  private static let settings = """
    endpoints:
      - {id: till, provider: stripe, account: shop, secrets: [\(secret)], kinds: [received], live: false}
      - {id: counter, provider: square, secrets: [\(secret)], url: "https://pay.example/v1/providers/square/counter"}
      - {id: bank, provider: mapping, mapping: bank.yaml, secrets: [\(secret)]}
    """
  private static let mapping = """
    name: My bank
    verification: { scheme: token, header: x-token }
    kinds:
      - when: { /status: PAID }
        kind: received
    payment: { id: /id, amount: { major: /sum }, currency: /currency }
    samples:
      - name: a payment
        secret: abc
        body: '{"id":"1","status":"PAID","sum":"12.50","currency":"EUR"}'
        expect: { payments: [{ id: "1", kind: received, amount: "12.50", currency: EUR }] }
    """

  /// Makes a home with settings.
  private func crier(_ settings: String = settings, mode: Int = 0o600) throws -> Command {
    let crier = try Command()
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    let file = crier.home.appending(path: "providers.yaml")
    try Data(settings.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    try Data(Self.mapping.utf8).write(to: crier.home.appending(path: "bank.yaml"))
    return crier
  }

  private func write(_ text: String, _ name: String, _ crier: Command) throws {
    try Data(text.utf8).write(to: crier.directory.appending(path: name))
  }

  /// Writes a signed event of Stripe as `headers.json` and `body.json`.
  private func writeEvent(
    _ crier: Command, _ type: String = "charge.succeeded", livemode: Bool = false, age: Int = 0, more: String = ""
  ) throws {
    let body = """
      {"object":"event","type":"\(type)","livemode":\(livemode),"created":\(1_700_000_000 - age),"data":{"object":{"id":"ch_1",
       "object":"charge","payment_intent":"pi_1","amount":1250,"currency":"usd","captured":true\(more)}}}
      """
    let headers = StripeProvider.headers(
      signing: Data(body.utf8), with: ProviderSecret(Self.secret), at: Date(timeIntervalSince1970: 1_700_000_000))
    try write(body, "body.json", crier)
    try write("{\"\(headers[0].name)\": \"\(headers[0].value)\"}", "headers.json", crier)
  }

  private func check(_ crier: Command, _ flags: String..., now: String? = "1700000000") throws -> Command.Result {
    try crier.run(
      ["providers", "check", "till", "--headers", "headers.json", "--body", "body.json"]
        + (now.map { ["--now", $0] } ?? []) + flags)
  }

  // MARK: list

  @Test("crier providers list prints the URLs with the given base, and whether each endpoint's requests are signed")
  func list() throws {
    let crier = try crier()
    defer { crier.remove() }
    let result = try crier("providers", "list", "--base", "https://pay.example/")
    #expect(result.status == 0 && result.message.isEmpty)
    #expect(
      result.output == """
        till\tstripe\tshop\ttest\tsigned: yes\thttps://pay.example/v1/providers/stripe/till
        counter\tsquare\tdefault\tlive\tsigned: yes\thttps://pay.example/v1/providers/square/counter
        bank\tMy bank\tdefault\tlive\tsigned: no\thttps://pay.example/v1/providers/mapping/bank

        """)
    let lines = try crier("providers", "list", "--base", "https://pay.example", "--json").output.split(separator: "\n")
    #expect(
      lines.last == """
        {"account":"default","id":"bank","live":true,"mapping":"My bank","provider":"mapping","signed":false,\
        "url":"https://pay.example/v1/providers/mapping/bank"}
        """)
    #expect(!result.output.contains(Self.secret) && !lines.joined().contains(Self.secret))
  }

  @Test("crier providers list takes the base from public_url, or warns that providers cannot reach the addresses")
  func base() throws {
    let crier = try crier()
    defer { crier.remove() }
    let local = try crier("providers", "list")
    #expect(local.output.contains("\thttp://127.0.0.1:8080/v1/providers/stripe/till\n"))
    #expect(
      local.message
        == "crier: Providers cannot reach these addresses. Give --base https://HOST, or set public_url in crier.yaml.\n"
    )
    try Data("public_url: https://shop.example\n".utf8).write(to: crier.home.appending(path: "crier.yaml"))
    let result = try crier("providers", "list")
    #expect(result.output.contains("\thttps://shop.example/v1/providers/stripe/till\n"))
    #expect(
      result.message.contains(
        "crier: counter: Square signs the URL in the endpoint's key 'url', which differs from the URL listed"))
  }

  @Test("without endpoints, crier providers list says where to add one")
  func empty() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("providers", "list")
    #expect(result.status == 0 && result.output.isEmpty)
    #expect(result.message == "There are no endpoints: add one to \(crier.home.path)/providers.yaml.\n")
    let check = try crier("providers", "test", "till")
    #expect(
      check.status == 65
        && check.message == "crier: ENDPOINT till: no endpoint has this id; providers.yaml has no endpoints yet.\n")
  }

  @Test("settings that others can read, or that have a mistake, give status 65 and a message with the place")
  func wrongSettings() throws {
    let open = try crier(mode: 0o644)
    defer { open.remove() }
    let result = try open("providers", "list")
    #expect(result.status == 65 && result.output.isEmpty)
    #expect(
      result.message
        == "crier: providers.yaml: can be read or changed by other users, and holds secrets; run chmod 600 on it.\n")
    let wrong = try crier("endpoints:\n  - id: till\n    provider: paypal\n")
    defer { wrong.remove() }
    let message = try wrong("providers", "list").message
    #expect(message.hasPrefix("crier: providers.yaml:3: endpoints[0].provider is PayPal, whose webhooks cannot be"))
  }

  // MARK: check

  @Test("a verified payment gives status 0, and the line of JSON has exactly the documented keys")
  func verified() throws {
    let crier = try crier()
    defer { crier.remove() }
    try writeEvent(crier)
    let result = try check(crier, "--json")
    #expect(result.status == 0 && result.message.isEmpty, "\(result.message)")
    #expect(
      result.output == """
        {"ignored":null,"payments":[{"amount":"12.50","currency":"USD","id":"pi_1","kind":"received","late":false,"live":false,\
        "occurred_at":"2023-11-14T22:13:20Z"}],"reason":null,"refused":null,"verified":true}

        """)
    #expect(
      try check(crier).output == """
        The request is verified.
        Payment: received, 12.50 USD, id pi_1, at 2023-11-14T22:13:20Z

        """)
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "ledger.sqlite").path))
  }

  @Test("crier providers check reports a payment that is older than 'max_age' as late")
  func late() throws {
    let crier = try crier()
    defer { crier.remove() }
    for (age, isLate) in [(3_600, false), (3_601, true)] {
      try writeEvent(crier, age: age)
      #expect(try check(crier).output.contains("Late: older than max_age (3600 s)") == isLate)
      #expect(try check(crier, "--json").output.contains(#""late":\#(isLate)"#))
    }
  }

  @Test("a verified request that is not announced gives status 0, and the reason is printed")
  func ignored() throws {
    let crier = try crier()
    defer { crier.remove() }
    try writeEvent(crier, "customer.created")
    #expect(try check(crier).output == "The request is verified.\nIgnored: customer.created\n")
    try writeEvent(crier, livemode: true)
    let json = try JSONValue(try check(crier, "--json").output)
    #expect(json["ignored"]?.string?.contains("live: false") == true && json["refused"] == .null)
    try writeEvent(crier, more: #","amount":1"#)
    let refused = try check(crier, "--json")
    #expect(refused.status == 0)
    #expect(try JSONValue(refused.output)["refused"]?.string == "The body is not strict JSON.")
  }

  @Test("a request that the provider did not sign gives status 65, and the reason is printed")
  func rejected() throws {
    let crier = try crier()
    defer { crier.remove() }
    try writeEvent(crier)
    try write("{}", "body.json", crier)
    let result = try check(crier, "--json")
    #expect(result.status == 65)
    let json = try JSONValue(result.output)
    #expect(json["verified"] == .boolean(false) && json["payments"]?.array?.isEmpty == true)
    #expect(json["reason"]?.string?.hasPrefix("signature_invalid: ") == true)
    let text = try check(crier)
    #expect(text.status == 65 && text.output.hasPrefix("The request is not the provider's: signature_invalid: "))
  }

  @Test("a request from another time gives status 65, and without --now a message says which clock is wrong")
  func stale() throws {
    let crier = try crier()
    defer { crier.remove() }
    try writeEvent(crier)
    let result = try check(crier, now: nil)
    #expect(result.status == 65 && result.message.contains(" ahead of the provider's. For a request that was saved"))
    #expect(try check(crier, now: "1700000301").message.isEmpty)
    #expect(try check(crier, now: "1700000300").status == 0)
  }

  @Test("crier providers check reports a header as repeated if it is an array or has two spellings")
  func repeatedHeader() throws {
    let crier = try crier()
    defer { crier.remove() }
    try writeEvent(crier)
    for headers in [
      #"{"Stripe-Signature": ["t=1", "t=1"]}"#, #"{"Stripe-Signature": "t=1", "stripe-signature": "t=1"}"#,
    ] {
      try write(headers, "headers.json", crier)
      #expect(try check(crier).output.contains("header_repeated"))
    }
  }

  @Test(
    "headers that are not a JSON object of texts give status 65",
    arguments: ["", "[]", "{\"a\": 1}", "{\"a\": [1]}", "{\"a\": \"b\"", "a: b"])
  func wrongHeaders(text: String) throws {
    let crier = try crier()
    defer { crier.remove() }
    try writeEvent(crier)
    try write(text, "headers.json", crier)
    let result = try check(crier)
    #expect(result.status == 65 && result.message.hasPrefix("crier: headers.json: is not a JSON object of names"))
  }

  @Test("a missing file, and a body that the service would not accept, give status 65")
  func wrongFiles() throws {
    let crier = try crier()
    defer { crier.remove() }
    try writeEvent(crier)
    try write(String(repeating: " ", count: 1 << 20) + " ", "body.json", crier)
    #expect(try check(crier).message == "crier: body.json: is larger than 1 MiB, which the service does not accept.\n")
    try FileManager.default.removeItem(at: crier.directory.appending(path: "body.json"))
    let result = try check(crier)
    #expect(result.status == 65 && result.message.hasPrefix("crier: body.json: cannot be read"))
  }

  @Test("an unknown endpoint gives status 65, and the message names the existing endpoints")
  func unknown() throws {
    let crier = try crier()
    defer { crier.remove() }
    let result = try crier("providers", "check", "tll", "--headers", "a", "--body", "b")
    #expect(
      result.status == 65
        && result.message == "crier: ENDPOINT tll: no endpoint has this id; providers.yaml has till, counter, bank.\n")
  }

  @Test("crier providers check runs the samples of a mapping file, which it finds by path or by name")
  func samples() throws {
    let crier = try crier()
    defer { crier.remove() }
    let result = try crier("providers", "check", "--samples", "bank.yaml", "home/bank.yaml")
    #expect(result.status == 0, "\(result.message)")
    #expect(
      result.output
        == "bank.yaml: 1 sample has the expected outcome.\nhome/bank.yaml: 1 sample has the expected outcome.\n")
    try Data(Self.mapping.replacing("12.50\", currency", with: "12.51\", currency").utf8)
      .write(to: crier.home.appending(path: "bank.yaml"))
    let wrong = try crier("providers", "check", "--samples", "bank.yaml")
    #expect(wrong.status == 65 && wrong.output.hasPrefix("bank.yaml:8: the sample 'a payment' "))
    let json = try JSONValue(try crier("providers", "check", "--samples", "bank.yaml", "--json").output)
    #expect(json["samples"]?.number == 1 && json["errors"]?.array?.count == 1)
    #expect(try crier("providers", "check", "--samples", "none.yaml").status == 65)
  }

  @Test(
    "a wrong command line of crier providers gives status 64",
    arguments: [
      (["check"], "ENDPOINT is missing"), (["check", "till"], "--headers is missing"),
      (["check", "till", "--headers", "a"], "--body is missing"), (["check", "a", "b"], "one endpoint only"),
      (["check", "till", "--headers", "a", "--body", "b", "--now=-1"], "--now -1 is out of range"),
      (["check", "till", "--headers", "a", "--body", "b", "--now", "soon"], "--now"),
      (["check", "--samples", "--now", "5"], "--now cannot be used with --samples"),
      (["list", "--base", "pay.example"], "--base 'pay.example' is not an address"),
      (["list", "--base", "https://a.example?x=1"], "is not an address"),
      (["test"], "endpoint"),
      (["test", "till", "--url", "ftp://a.example"], "--url 'ftp://a.example' is not an address"),
      (["lst"], "Did you mean 'list'?"),
    ])
  func commandLine(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["providers"] + arguments)
    #expect(result.status == 64 && result.message.contains(message), "\(result.message)")
  }

  // MARK: test

  @Test("crier providers test posts a signed sample with a new id each time, and prints the answer")
  func sample() throws {
    let crier = try crier()
    defer { crier.remove() }
    let listener = try AnsweringListener("200 OK", body: "success")
    let url = "http://127.0.0.1:\(listener.port)"
    let result = try crier("providers", "test", "till", "--url", url)
    #expect(result.status == 0 && result.message.isEmpty, "\(result.message)")
    let id = try #require(
      result.output.wholeMatch(of: /till: payment (pi_criertest[0-9a-f]+), answered with 200: success\n/)
    ).1
    let json = try JSONValue(try crier("providers", "test", "till", "--url", url + "/", "--json").output)
    #expect(json["status"]?.number == 200 && json["endpoint"]?.string == "till" && json["answer"]?.string == "success")
    #expect(try #require(json["id"]?.string) != String(id))
    #expect(listener.received.count == 2)
    let request = try #require(listener.received.first)
    #expect(request.hasPrefix("POST /v1/providers/stripe/till HTTP/1.1\r\n") && request.contains(id))
    #expect(!request.contains(Self.secret) && !request.lowercased().contains("authorization"))

    // What was posted is what the provider would have sent.
    let header = try #require(request.firstMatch(of: /(?i)stripe-signature: ([^\r]+)/)?.1)
    try write("{\"Stripe-Signature\": \"\(header)\"}", "headers.json", crier)
    try write(String(request[try #require(request.range(of: "\r\n\r\n")).upperBound...]), "body.json", crier)
    #expect(try check(crier, now: nil).output.contains("Payment: received, 1.00 USD, id \(id)"))
  }

  @Test(
    "a refused sample gives status 65, and a sample that the service may accept later gives status 69",
    arguments: [("401 Unauthorized", 65), ("404 Not Found", 65), ("429 Too Many Requests", 69), ("503 Busy", 69)]
      as [(String, Int32)])
  func refusedSample(answer: String, status: Int32) throws {
    let crier = try crier()
    defer { crier.remove() }
    let listener = try AnsweringListener(answer)
    let result = try crier("providers", "test", "till", "--url", "http://127.0.0.1:\(listener.port)")
    #expect(result.status == status && result.output.hasSuffix("answered with \(answer.prefix(3))\n"))
    #expect(result.message.hasPrefix("crier: The service "))
  }

  @Test("crier providers test does not follow a redirect")
  func redirect() throws {
    let crier = try crier()
    defer { crier.remove() }
    let listener = try AnsweringListener("302 Found\r\nLocation: /elsewhere")
    let result = try crier("providers", "test", "till", "--url", "http://127.0.0.1:\(listener.port)")
    #expect(result.status == 65 && listener.received.count == 1)
  }

  @Test("a service that does not answer gives status 69")
  func unreachable() throws {
    let crier = try crier()
    defer { crier.remove() }
    let port = try AnsweringListener("200 OK").port
    let result = try crier("providers", "test", "till", "--url", "http://127.0.0.1:\(port)")
    #expect(result.status == 69 && result.output.isEmpty)
    #expect(result.message.hasPrefix("crier: http://127.0.0.1:\(port): the service does not answer; start it, or"))
  }

  @Test(
    "if only the provider can sign an endpoint's requests, crier providers test gives status 64 and recommends check")
  func unsignable() throws {
    let key = "whpk_" + Data(repeating: 9, count: 32).base64EncodedString()
    let crier = try crier("endpoints:\n  - {id: shop, provider: standard-webhooks, secrets: [\"\(key)\"]}\n")
    defer { crier.remove() }
    let result = try crier("providers", "test", "shop")
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(
      result.message == """
        crier: ENDPOINT shop: only the sender has the private key that signs, so there is no sample; save a request of \
        the provider, and run crier providers check shop.

        """)
  }

  @Test("a sample that the endpoint ignores is posted by crier providers test, and the reason is printed")
  func ignoredSample() throws {
    let crier = try crier("endpoints:\n  - {id: till, provider: razorpay, secrets: [a], kinds: [refunded]}\n")
    defer { crier.remove() }
    let listener = try AnsweringListener("200 OK")
    let result = try crier("providers", "test", "till", "--url", "http://127.0.0.1:\(listener.port)")
    #expect(result.status == 0 && result.output == "till: answered with 200\n")
    #expect(result.message.hasPrefix("crier: The endpoint ignores the sample: kind received"))
  }
}
