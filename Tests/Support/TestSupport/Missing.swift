// SPDX-License-Identifier: Apache-2.0

/// Something that a test needs is not there.
public struct Missing: Error {
  public var what: String

  public init(what: String) { self.what = what }
}

extension Optional {
  /// The value, or a failure of the test that says what is missing.
  public func orThrow(_ what: String) throws -> Wrapped {
    guard let self else { throw Missing(what: what) }
    return self
  }
}
