// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger

// The file belongs to one machine, whose programs share the tokens in files of their own.
extension SQLiteLedger {
  public func providerToken(of key: String) async throws(LedgerError) -> Data? { nil }

  public func replaceProviderToken(
    of key: String, _ earlier: Data?, with new: Data
  ) async throws(LedgerError) -> Data { new }
}
