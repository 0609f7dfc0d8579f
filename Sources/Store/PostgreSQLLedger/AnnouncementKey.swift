// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQL

/// The identity of a row within the whole ledger: an account, and an id or a key of the account. Identities are
/// compared byte for byte, as in the database. (Two texts of different bytes can be equal as strings.)
struct AnnouncementKey: Hashable, Comparable {
  let account: String
  let id: String
  private let bytes: [Data]

  init(_ account: String, _ id: String) {
    self.account = account
    self.id = id
    bytes = [account.bytes, id.bytes]
  }

  static func == (first: Self, second: Self) -> Bool { first.bytes == second.bytes }
  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The order in which transactions lock rows.
  static func < (first: Self, second: Self) -> Bool {
    first.bytes[0] == second.bytes[0]
      ? first.bytes[1].lexicographicallyPrecedes(second.bytes[1])
      : first.bytes[0].lexicographicallyPrecedes(second.bytes[0])
  }
}

extension Collection where Element == AnnouncementKey {
  /// The accounts and the ids as two parameters for `unnest`, each key once, in the order in which rows are locked.
  var parameters: [PostgreSQLValue] {
    let keys = Set(self).sorted()
    return [.strings(keys.map(\.account)), .strings(keys.map(\.id))]
  }
}

extension Collection where Element == String {
  /// The texts in the order of their bytes, each once.
  var inByteOrder: [String] {
    let texts = Dictionary(map { ($0.bytes, $0) }) { first, _ in first }
    return texts.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }
}
