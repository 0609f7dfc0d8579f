// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The provider tokens of Apple's push service, which the nodes of a ledger share. They are stored encrypted; the ledger
  /// cannot read them. A ledger in a file stores none, because the programs of one machine share a file.
  public protocol ProviderTokenStore: Sendable {
    /// Returns the encrypted token of a key; nil if none is stored.
    ///
    /// - Parameter key: The name of the key, at most 255 bytes of UTF-8 without a zero byte.
    func providerToken(of key: String) async throws(LedgerError) -> Data?

    /// Replaces the encrypted token of a key, unless another node has replaced it since it was read.
    ///
    /// - Parameters:
    ///   - earlier: The token that was read; nil if there was none.
    ///   - new: The new token, at most 4 KiB.
    /// - Returns: The token that is stored now: the new one, or that of the node that was faster.
    func replaceProviderToken(of key: String, _ earlier: Data?, with new: Data) async throws(LedgerError) -> Data
  }
}
