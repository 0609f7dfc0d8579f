// SPDX-License-Identifier: Apache-2.0

import Testing

/// Generators of clients read a schema as a class. Several of them drop the `properties` beside an `anyOf`, and read an
/// `allOf` with a single reference as that reference.
@Suite("The document /openapi.json for generators of clients")
struct OpenAPIGeneratorTests {
  private let document: APIDocument
  private let schemas: [String: JSONValue]

  init() throws {
    document = try APIDocument()
    schemas = try #require(document.root["components"]?["schemas"]?.object)
  }

  @Test("a schema with fields is one object or an allOf of objects, so that no generator of clients drops a field")
  func oneForm() {
    for (name, schema) in schemas.sorted(by: { $0.key < $1.key }) {
      // A field that must be null is only a rule for requests, and a client needs no such field.
      let fields = (schema["properties"]?.object ?? [:]).filter { $0.value["type"]?.string != "null" }
      for keyword in ["anyOf", "oneOf", "allOf"] where schema[keyword] != nil {
        #expect(fields.isEmpty, "\(name) has properties beside \(keyword)")
      }
      if let all = schema["allOf"]?.array { #expect(all.count > 1, "\(name) has an allOf with one element") }
    }
  }

  /// Returns the names of all fields of a schema, also those of the schemas that its `allOf` joins.
  private func fields(_ schema: JSONValue?) -> Set<String> {
    guard let schema = document.resolved(schema) else { return [] }
    let joined = (schema["allOf"]?.array ?? []).map { fields($0) }
    return joined.reduce(Set((schema["properties"]?.object ?? [:]).keys)) { $0.union($1) }
  }

  @Test("the schema of a payment request has every key of a payment and every option")
  func paymentRequest() {
    let keys: Set = [
      "id", "amount", "minor", "currency", "kind", "channel", "payer", "payer_reading", "note", "locale", "sequence",
      "occurred_at", "refund_of",
    ]
    let options: Set = [
      "deliver", "device", "method", "voice", "rate", "pack", "format", "encoding", "sample_rate", "group",
    ]
    #expect(fields(schemas["Payment"]) == keys && fields(schemas["PreviewedPayment"]) == keys)
    for name in ["PaymentRequest", "PreviewPayment"] {
      #expect(fields(schemas[name]).isSuperset(of: keys.union(options)), "\(name)")
    }
    for name in ["WrappedPaymentRequest", "PreviewWrappedPayment"] {
      #expect(fields(schemas[name]).isSuperset(of: options.union(["payment"])), "\(name)")
    }
  }

  @Test(
    "the schema of a payment requires either 'amount' or 'minor'",
    arguments: [
      (#""amount":"12.50""#, true), (#""amount":12.5"#, true), (#""minor":1250"#, true),
      (#""amount":"12.50","minor":null"#, true), (#""amount":null,"minor":1250"#, true),
      (#""amount":"12.50","minor":1250"#, false), (#""amount":12.5,"minor":1250"#, false),
      (#""amount":null,"minor":null"#, false), (#""amount":null"#, false), (#""note":"lunch""#, false),
      (#""amount":"1e3""#, false), (#""minor":0"#, false), (#""amount":true"#, false),
    ])
  func eitherAmount(fields: String, isValid: Bool) throws {
    for (schema, id) in [("Payment", #""id":"p1","#), ("PreviewedPayment", "")] {
      let schema = try JSONValue(##"{"$ref":"#/components/schemas/\##(schema)"}"##)
      let payment = try JSONValue(#"{\#(id)"currency":"CNY",\#(fields)}"#)
      #expect(document.schema.violations(of: payment, schema: schema).isEmpty == isValid, "\(fields)")
    }
  }

  @Test(
    "the schema of a device's registration has every key that the service knows, and tokens in hexadecimal digits",
    arguments: [
      (#"{}"#, true), (#"{"alert":null}"#, true), (#"{"alert":"00112233445566778899AABBccddeeff"}"#, true),
      (#"{"alert":"0011223344556677889"}"#, false), (#"{"alert":"001122"}"#, false),
      (#"{"alert":"<00112233 44556677>"}"#, false), (#"{"alerts":"0011223344556677"}"#, false), (#"[]"#, false),
    ])
  func device(tokens: String, isValid: Bool) throws {
    let schema = try #require(schemas["DeviceRequest"])
    let keys: Set = ["bundle_id", "environment", "tokens", "group", "device_group", "locale", "tone", "new_key"]
    #expect(fields(schema) == keys)
    #expect(fields(schemas["RegisteredDevice"]) == fields(schemas["Device"]).union(["key", "warnings"]))
    let device = try JSONValue(#"{"bundle_id":"a.b","environment":"sandbox","tokens":\#(tokens)}"#)
    #expect(document.schema.violations(of: device, schema: schema).isEmpty == isValid)
  }

  @Test("the schema of a payment requires an id, and the schema of a previewed payment does not")
  func id() throws {
    let payment = try JSONValue(#"{"amount":"5","currency":"CNY"}"#)
    #expect(!document.schema.violations(of: payment, schema: try #require(schemas["Payment"])).isEmpty)
    #expect(document.schema.violations(of: payment, schema: try #require(schemas["PreviewedPayment"])).isEmpty)
  }
}
