// SPDX-License-Identifier: Apache-2.0

import Announcements

/// The place of a value in a request.
package enum ValueSource: Sendable, Hashable {
  /// A place in the body or, with ``PaymentFields/each``, in an element of the array of payments.
  case pointer(JSONPointer)
  /// A place in the whole body, even with ``PaymentFields/each``.
  case root(JSONPointer)
  case header(String)
  case query(String)
  /// The text itself.
  case text(String)
  /// A place in one element of a list. The element is found by its name, such as M-Pesa's `Item` whose `Name` is
  /// Amount.
  case find(list: JSONPointer, name: JSONPointer, equals: String, value: JSONPointer)

  /// Whether the value is in the request's body.
  package var isInBody: Bool {
    switch self {
    case .pointer, .root, .find: true
    case .header, .query, .text: false
    }
  }

  /// The name of the place for messages: `/data/amount`.
  package var name: String {
    switch self {
    case .pointer(let pointer), .root(let pointer): pointer.description
    case .header(let name): "header \(name)"
    case .query(let key): "key \(key) in the URL's query"
    case .text: "text"
    case .find(let list, _, let name, _): "\(name) in \(list)"
    }
  }

  /// Returns the value; nil if it is missing or null.
  ///
  /// - Throws: `.headerRepeated` if the value occurs twice.
  func value(in place: RequestPlace) throws(ProviderRejection) -> JSONFields? {
    switch self {
    case .pointer(let pointer): return place.element.flatMap(pointer.value)
    case .root(let pointer): return place.root.flatMap(pointer.value)
    case .header(let name): return try place.request.header(name).map { JSONFields(.string($0)) }
    case .query(let key): return try place.request.queryValue(of: key).map { JSONFields(.string($0)) }
    case .text(let text): return JSONFields(.string(text))
    case .find(let list, let name, let text, let value):
      let elements = place.element.flatMap(list.value)?.elements ?? []
      let found = elements.filter { name.value(in: $0)?.characters == text }
      guard found.count < 2 else { throw ProviderRejection(.headerRepeated, "\(self.name) occurs twice.") }
      return found.first.flatMap(value.value)
    }
  }
}

/// A request and, if it lists payments, one of its payments.
struct RequestPlace {
  let request: ProviderRequest
  /// The body; nil if it cannot be read.
  let root: JSONFields?
  /// The part of the body in which pointers begin: an element of the array of payments, or the whole body if there is
  /// no such array.
  var element: JSONFields?
}

extension ProviderRequest {
  /// Returns the value of a key in the URL's query; nil if it is missing or not percent-encoded UTF-8.
  ///
  /// - Throws: `.headerRepeated`.
  func queryValue(of key: String) throws(ProviderRejection) -> String? {
    try FormFields((query ?? "").utf8, plusIsSpace: false)?.value(of: key)
  }
}
