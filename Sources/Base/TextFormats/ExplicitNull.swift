// SPDX-License-Identifier: Apache-2.0

/// An optional value that is encoded as `null` if it is absent.
///
/// The encoding that the compiler generates omits the key of an absent value. A reader of the JSON then cannot tell an
/// unknown value from a key that does not exist.
///
///     struct Status: Encodable {
///       @ExplicitNull var finishedAt: Date? = nil  // {"finishedAt": null}
///     }
///
/// A decoder accepts both forms: `null` and a missing key both mean an absent value.
@propertyWrapper
public struct ExplicitNull<Value> {
  public var wrappedValue: Value?

  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension ExplicitNull: Sendable where Value: Sendable {}
extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}

extension ExplicitNull: Encodable where Value: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    // The encoder must get the value with its own type, because it encodes some types, such as dates, in a special way.
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension ExplicitNull: Decodable where Value: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a value whose key may be missing. The compiler's decoding of a wrapped property calls this function
  /// instead of the standard one, which throws an error for a missing key.
  ///
  /// - Throws: `DecodingError` if the key has a value of another type.
  public func decode<Value: Decodable>(
    _ type: ExplicitNull<Value>.Type, forKey key: Key
  ) throws -> ExplicitNull<Value> {
    ExplicitNull(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
  }
}
