// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A secret of an endpoint. Its description does not contain the secret.
package struct ProviderSecret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The secret as it stands in the settings. Never log it.
  package let text: String

  package init(_ text: String) { self.text = text }

  /// The bytes of the text.
  package var bytes: Data { Data(text.utf8) }

  package var description: String { "ProviderSecret" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
