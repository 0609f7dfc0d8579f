// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A value of a row that is moved from one ledger to another one.
package enum MovedValue: Sendable {
  case null
  /// An integer, or a boolean as 0 or 1.
  case integer(Int64)
  case real(Double)
  case text(String)
  case bytes(Data)
  /// A text that PostgreSQL cannot store, because it contains a NUL or is not UTF-8. Only a ledger in SQLite has such
  /// texts.
  case unstorable
}

extension MovedValue: Equatable {
  /// Compares two values byte for byte. Swift's own comparison treats two forms of "é" as the same text. An unstorable
  /// text equals nothing.
  package static func == (first: MovedValue, second: MovedValue) -> Bool {
    switch (first, second) {
    case (.null, .null): true
    case (.integer(let first), .integer(let second)): first == second
    case (.real(let first), .real(let second)): first == second
    case (.text(let first), .text(let second)): first.utf8.elementsEqual(second.utf8)
    case (.bytes(let first), .bytes(let second)): first == second
    default: false
    }
  }
}
