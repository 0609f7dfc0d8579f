// SPDX-License-Identifier: Apache-2.0

/// The description of a provider by a mapping file.
package struct ProviderMapping: Sendable, Hashable {
}
