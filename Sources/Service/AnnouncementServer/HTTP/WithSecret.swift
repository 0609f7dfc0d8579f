// SPDX-License-Identifier: Apache-2.0

/// An answer with a secret that no other answer has, such as a new key: the fields of the answer, and one more.
struct WithSecret<Fields: Encodable>: Encodable {
  var fields: Fields
  /// The key of the secret in JSON.
  var name: String
  /// nil if the secret is not shown again.
  var secret: String?

  init(_ fields: Fields, _ name: String, _ secret: String?) {
    (self.fields, self.name, self.secret) = (fields, name, secret)
  }

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    try fields.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(secret, forKey: Key(stringValue: name))
  }
}
