// SPDX-License-Identifier: Apache-2.0

package import PaymentProviders

/// The parts that accept the webhooks of payment providers.
package struct ProviderParts: Sendable {
  /// Returns a text that changes when the settings have changed; nil if there are no settings.
  package var version: @Sendable () -> String?
  /// Reads the endpoints from the settings. It may block.
  package var read: @Sendable () throws -> [ProviderEndpoint]

  package init(
    version: @escaping @Sendable () -> String?, read: @escaping @Sendable () throws -> [ProviderEndpoint]
  ) {
    (self.version, self.read) = (version, read)
  }
}
