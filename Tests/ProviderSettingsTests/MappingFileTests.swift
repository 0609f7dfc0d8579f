// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings
import Testing

@Suite("Mapping files")
struct MappingFileTests {
  private static let good = """
    name: Test
    verification:
      scheme: hmac
      hash: sha256
      encoding: hex
      header: X-Sig
      message: [body]
    kinds:
      - when: { /event: paid }
        kind: received
    payment:
      id: /id
      amount: { major: /sum }
      currency: /currency
    samples:
      - name: a payment
        secret: a secret
        body: '{"event":"paid","id":"p1","sum":"12.50","currency":"EUR"}'
        expect: { payments: [{ id: p1, kind: received, amount: 12.50, currency: EUR }] }
    """

  private func read(_ yaml: String) throws -> MappingFile {
    try MappingFile(yaml: Data(yaml.utf8), file: "test.yaml")
  }

  /// Returns the error of the good file with one line replaced.
  private func error(_ line: String, _ replacement: String) -> String? {
    let text = Self.good.replacing(line, with: replacement)
    guard text != Self.good else { return "nothing was replaced" }
    do {
      _ = try read(text)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("a valid mapping file is read, and its samples have the expected outcomes")
  func good() throws {
    let file = try read(Self.good)
    #expect(file.mapping.name == "Test" && file.mapping.isSigned && file.mapping.samples.count == 1)
    #expect(file.sampleErrors() == [])
  }

  @Test("the error for a mistake in a mapping file names the line and the remedy")
  func mistakes() {
    for (line, replacement, expected) in [
      ("name: Test", "xyzzy: Test", "1: unknown key 'xyzzy'; the keys are name, verification, "),
      ("name: Test", "namee: Test", "1: unknown key 'namee'; did you mean 'name'?"),
      ("scheme: hmac", "scheme: hmax", "3: verification.scheme is 'hmax'; did you mean 'hmac'?"),
      ("scheme: hmac", "scheme: token", "4: verification.hash has no meaning with scheme token; remove it."),
      ("hash: sha256", "hash: md5", "4: verification.hash is 'md5'; give one of sha1, sha256, sha512."),
      ("  hash: sha256\n", "", "3: verification has no key 'hash'; give sha1, sha256 or sha512."),
      ("encoding: hex", "encodin: hex", "5: unknown key 'encodin' in verification; did you mean 'encoding'?"),
      ("header: X-Sig", "header: 'X-Sig:'", "6: verification.header is not the name of a header;"),
      (
        "  header: X-Sig\n", "",
        "3: verification does not name exactly one place of the signature; add header: NAME, or "
      ),
      (
        "header: X-Sig", "header: X-Sig\n  pointer: /sig",
        "3: verification does not name exactly one place of the signature;"
      ),
      (
        "header: X-Sig", "pointer: /sig",
        "7: verification.message has the part 'body', which contains the signature itself;"
      ),
      (
        "header: X-Sig", "pointer: sig",
        "6: verification.pointer is not a place in the body; write the keys with a slash"
      ),
      ("message: [body]", "message: [bdy]", "7: verification.message[0] does not give a place; write /data/id,"),
      (
        "message: [body]", "message: [body, time]",
        "7: verification.message has the part 'time', but there is no key 'time';"
      ),
      (
        "message: [body]", "message: [body]\n  time: {header: T}",
        "7: verification.message does not have the part 'time', "
      ),
      ("message: [body]", "message: [body, secret]", "7: verification.message has the part 'secret'; remove the part;"),
      ("scheme: hmac", "scheme: digest", "7: verification.message does not have the part 'secret'; add the part;"),
      (
        "message: [body]", "message: [body]\n  list: pairs",
        "3: verification needs both list: pairs and signature_names;"
      ),
      ("message: [body]", "message: [time, body]\n  time: {pair: t}", "8: verification.time.pair needs list: pairs;"),
      (
        "message: [body]", "message: [time, body]\n  time: {header: T, unit: min}",
        "8: verification.time.unit is 'min'; "
      ),
      (
        "message: [body]", "message: [time, body]\n  time: {header: T, window: 0}",
        "8: verification.time.window is not a"
      ),
      ("message: [body]", "message: []", "7: verification.message is an empty list; give a value"),
      (
        "message: [body]", "message: [body]\n  secret: sha256",
        "8: verification.secret does not suit scheme hmac; give "
      ),
      ("{ /event: paid }", "{ event: paid }", "9: kinds[0].when.event does not give a place;"),
      ("kind: received", "kind: recieved", "10: kinds[0].kind is 'recieved'; did you mean 'received'?"),
      ("kind: received", "kind: ignored", "9: kinds has no row that is a payment; add a row with kind: received."),
      (
        "kind: received\n", "kind: received\n    because: x\n",
        "11: kinds[0].because has no meaning for a payment; remove it."
      ),
      ("id: /id", "idd: /id", "12: unknown key 'idd' in payment;"),
      (
        "  id: /id\n", "",
        "12: payment has no key 'id'; say where the webhook has the payment's own id, such as /data/id."
      ),
      (
        "id: /id", "id: [/id, header X-Id]",
        "12: payment.id is not signed, so it must not decide anything; give a place "
      ),
      ("id: /id", "id: header X-Id", "12: payment.id is not signed, so it must not decide anything; give a place "),
      (
        "id: /id", "id: /id\n  identity: header X",
        "13: payment.identity is not signed, so it must not decide anything;"
      ),
      (
        "{ major: /sum }", "{ major: header X-Sum }",
        "13: payment.amount is not signed, so it must not decide anything;"
      ),
      ("{ major: /sum }", "/sum", "13: payment.amount is not a list of keys and values; write key: value."),
      ("{ major: /sum }", "{}", "13: payment.amount must have either major or minor; add major: /PLACE or "),
      ("{ major: /sum }", "{ major: /sum, digits: {JPY: 0} }", "13: payment.amount.digits has no meaning with major;"),
      (
        "{ major: /sum }", "{ minor: /sum, digits: {YEN: 0} }", "13: payment.amount.digits.YEN is not a currency of ISO"
      ),
      (
        "{ major: /sum }", "{ minor: /sum, digits: {JPY: 9} }",
        "13: payment.amount.digits.JPY is not a whole number from 0"
      ),
      (
        "currency: /currency", "currency: query c",
        "14: payment.currency is not signed, so it must not decide anything;"
      ),
      ("currency: /currency", "currency: {text: euro}", "14: payment.currency is not a currency of ISO 4217;"),
      ("currency: /currency", "currency: EUR", "14: payment.currency does not give a place;"),
      ("currency: /currency", "currency: {text: EUR, find: /x}", "14: payment.currency has both text and find;"),
      ("currency: /currency", "currency: {find: /x, value: /v}", "14: payment.currency has no key 'where'; say which "),
      (
        "currency: /currency", "currency: {find: /x, value: /v, where: {a: b}}",
        "14: payment.currency.where does not name"
      ),
      (
        "id: /id", "id: /id\n  time: {from: /t, format: local}", "13: payment.time needs both format: local and offset;"
      ),
      (
        "id: /id", "id: /id\n  time: {from: /t, format: local, offset: 7}",
        "13: payment.time.offset is not an offset from"
      ),
      ("id: /id", "id: /id\n  time: {from: header Date, format: seconds}", "13: payment.time is not signed,"),
      (
        "id: /id", "id: /id\n  live: {from: /l, live: a, test: a}",
        "13: payment.live has a value that means both live and test;"
      ),
      ("id: /id", "id: /id\n  merchant: header X-Shop", "13: payment.merchant is not signed, so it must not decide"),
      (
        "{ /event: paid }", "{ header X-Topic: paid }",
        "9: kinds[0] accepts a payment without a signed condition; add a"
      ),
      ("name: Test", "name: Test\nbody: xml", "2: body is 'xml'; give one of json, form."),
      ("name: Test", "name: Test\npath_suffix: pix", "2: path_suffix is not the end of a URL's path; write it as"),
      (
        "name: Test", "name: Test\nanswer: {accepted: {status: 404}}",
        "2: answer.accepted.status is not a whole number from"
      ),
      (
        "name: Test", "name: Test\nanswer: {accepted: {status: 200, body: x}}",
        "2: answer.accepted needs both type and body;"
      ),
      (
        "name: Test", "name: Test\nanswer: {rejected: {status: 401, type: \"a\\nb\", body: x}}",
        "2: answer.rejected.type is "
      ),
      (
        "amount: 12.50,", "amount: 12.505,",
        "19: samples[0].expect.payments[0].amount is not an amount in this currency; "
      ),
      ("{ payments: [{ id: p1,", "{ payments: [{ idd: p1,", "19: unknown key 'idd' in samples[0].expect.payments[0];"),
      ("expect: {", "expect: nothing #", "19: samples[0].expect is 'nothing'; give one of ignored, refused."),
    ] {
      let message = error(line, replacement)
      #expect(message?.hasPrefix("test.yaml:" + expected) == true, "\(replacement): \(message ?? "no error")")
    }
  }

  @Test("a mapping file whose signature covers only some fields of the body may use only these fields")
  func parts() throws {
    func file(_ kinds: String, _ payment: String) throws {
      _ = try MappingTexts.endpoint(
        "{scheme: digest, hash: sha512, encoding: hex, pointer: /sig, message: [/id, /sum, /code, secret]}",
        payment: payment, kinds: kinds)
    }
    let good = "{id: /id, amount: {major: /sum}, currency: {text: IDR}}"
    try file("[{when: {/code: 200}, kind: received}]", good)
    try file("[{when: {/code: 200, /status: paid}, kind: received}]", good)
    for (kinds, payment) in [
      ("[{kind: received}]", good), ("[{when: {/status: paid}, kind: received}]", good),
      ("[{when: {/code: 200}, kind: received}]", good.replacing("/sum", with: "/other")),
      ("[{when: {/code: 200}, kind: received}]", good.replacing("/id", with: "/other")),
      ("[{when: {/code: 200}, kind: received}]", good.replacing("{text: IDR}", with: "/currency")),
      (
        "[{when: {/code: 200}, kind: received}]", good.replacing("{id", with: "{live: {from: /l, live: a, test: b}, id")
      ),
      ("[{when: {/code: 200}, kind: received}]", good.replacing("{id", with: "{time: {from: /t, format: seconds}, id")),
    ] {
      let error = #expect(throws: ProviderSettingsError.self) { try file(kinds, payment) }
      #expect(error?.problem.contains("signed") == true)
    }
    // The id that is shown may be unsigned where another place tells payments apart.
    try file("[{when: {/code: 200}, kind: received}]", good.replacing("{id: /id", with: "{id: /shown, identity: /id"))
  }

  @Test("a mapping file with a token may use neither a payment's time nor its test mode, because neither is signed")
  func unsigned() {
    for extra in ["time: {from: /t, format: seconds}", "live: {from: /l, live: a, test: b}"] {
      let payment = MappingTexts.payment.replacing("{id", with: "{\(extra), id")
      let error = #expect(throws: ProviderSettingsError.self) {
        try MappingTexts.endpoint("{scheme: token, header: X-Token}", payment: payment)
      }
      #expect(error?.problem.contains("is not signed") == true)
    }
  }

  @Test("a mapping file for forms may not read an array of payments")
  func formWithEach() {
    #expect(throws: ProviderSettingsError.self) {
      try MappingTexts.endpoint(
        MappingTexts.signed, payment: MappingTexts.payment.replacing("{id", with: "{each: /list, id"),
        more: "body: form")
    }
  }

  @Test(
    "a key of a mapping file without a value, or with one of another type, is an error and does not crash the program")
  func shapes() {
    let lines = Self.good.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for index in lines.indices {
      guard let colon = lines[index].firstRange(of: ":") else { continue }
      for value in ["", " ~", " []", " {}", " [[]]", " {a: {b: [c]}}", " x", " 7", " ''"] {
        var changed = lines
        changed[index] = lines[index][..<colon.upperBound] + value
        do {
          // A few keys may have another value: a name, a place.
          _ = try read(changed.joined(separator: "\n")).sampleErrors()
        } catch {
          #expect(error is ProviderSettingsError && "\(error)".hasPrefix("test.yaml:"))
        }
      }
    }
  }

  @Test("the error for a sample with an unexpected outcome names the line of the sample")
  func failingSamples() throws {
    for (line, replacement, expected) in [
      ("amount: 12.50,", "amount: 12.51,", "gives payment 1 another amount"),
      ("amount: 12.50, currency: EUR", "amount: 12.50, currency: USD", "gives payment 1 another currency"),
      ("{ id: p1,", "{ id: p2,", "gives payment 1 another id"),
      ("{ id: p1,", "{ identity: x, id: p1,", "another identity"),
      ("{ id: p1,", "{ payer: x, id: p1,", "gives payment 1 another payer"),
      ("{ id: p1,", "{ live: true, id: p1,", "another live"),
      ("{ id: p1,", "{ occurred_at: 2026-11-20T10:00:00Z, id: p1,", "gives payment 1 another occurred_at"),
      ("event\":\"paid\"", "event\":\"x\"", "gives 0 payments (x)"),
      ("secret: a secret", "now: 1", "gives rejected (signature_missing"),
      ("expect: {", "expect: ignored #", "is not ignored"), ("expect: {", "expect: refused #", "is not refused"),
      ("expect: {", "expect: { rejected: signature_invalid } #", "gives no rejection"),
    ] {
      let error = try read(Self.good.replacing(line, with: replacement)).sampleErrors().first
      #expect(error?.code == .sampleFailed && error?.line == 16)
      #expect(error?.problem.contains(expected) == true, "\(replacement): \(error?.problem ?? "no error")")
    }
  }

  @Test("a sample fails if its request is also accepted with a changed body, even if it gives the expected payment")
  func uncoveredBody() throws {
    // The message names the sum's place only: the scheme is signed in parts, and the id is not among them.
    let file = try read(Self.good)
    #expect(file.sampleErrors() == [])
    var mapping = file.mapping
    mapping.verification.message = [.value(.pointer(try #require(JSONPointer("/sum"))))]
    let sample = try #require(mapping.samples.first)
    #expect(sample.problem(with: mapping)?.contains("is accepted with byte") == true)
  }

  @Test("a mapping file is found by its name, first in the home folder, then among the shipped files")
  func search() throws {
    let home = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    func named(_ name: String) throws -> String {
      try MappingFile.named(name, home: home, data: ShippedMappings.data).mapping.name
    }
    #expect(try named("shopify.yaml") == "Shopify")
    try Data(Self.good.utf8).write(to: home.appending(path: "shopify.yaml"))
    #expect(try named("shopify.yaml") == "Test")
    let near = #expect(throws: ProviderSettingsError.self) { try named("shopfy.yaml") }
    #expect(near?.description == "shopfy.yaml: there is no such mapping file; did you mean 'shopify.yaml'?")
    let none = #expect(throws: ProviderSettingsError.self) { try named("something-else.yaml") }
    #expect(none?.remedy.contains("cashfree.yaml, flutterwave-v3.yaml") == true)
    for name in ["../Providers/shopify.yaml", "/etc/passwd", ".hidden.yaml", "shopify", "", "a\0.yaml"] {
      let error = #expect(throws: ProviderSettingsError.self) { try named(name) }
      #expect(error?.code == .valueInvalid)
    }
  }
}
