// SPDX-License-Identifier: Apache-2.0

/// An error for a missing requirement of a test.
public struct Missing: Error {
  public var what: String

  public init(what: String) { self.what = what }
}

extension Optional {
  /// Returns the value, or fails the test with a description of the missing thing.
  public func orThrow(_ what: String) throws -> Wrapped {
    guard let self else { throw Missing(what: what) }
    return self
  }
}
