// SPDX-License-Identifier: Apache-2.0

/// The description of a provider by a mapping file.
package struct ProviderMapping: Sendable, Hashable {
  /// The segment that the provider appends to the URL, without a slash; nil if it appends none.
  package var pathSuffix: String?
  /// Whether the verification covers what the payments are read from.
  package var isSigned = true
}
