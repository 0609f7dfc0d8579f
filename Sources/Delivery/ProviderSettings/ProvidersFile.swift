// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import PaymentProviders

/// The file `providers.yaml`: the endpoints at which payment providers' webhooks arrive, with their secrets.
///
///     endpoints:
///       - id: till
///         provider: stripe
///         account: shop
///         secrets: ["whsec_…"]
package struct ProvidersFile: Sendable {
  /// The endpoints in the order of the file. Their ids differ.
  package var endpoints: [ProviderEndpoint]

  /// Reads the mapping file of a name such as `shopify.yaml`. The name is a file name without a folder.
  package typealias MappingReader = (_ name: String) throws(ProviderSettingsError) -> ProviderMapping

  /// Reads the file.
  ///
  /// - Throws: ``ProviderSettingsError``, with the line of the first mistake. `fileNotPrivate` if somebody other than
  ///   the owner may read the file.
  package static func read(
    _ file: URL, mapping: MappingReader
  ) throws(ProviderSettingsError) -> ProvidersFile {
    try ProvidersFile(yaml: try SecretFile.read(file), file: file.lastPathComponent, mapping: mapping)
  }

  /// Reads the text of the file.
  ///
  /// - Parameter file: The name of the file, for errors.
  package init(yaml: Data, file: String, mapping: MappingReader) throws(ProviderSettingsError) {
    let root = try SettingsNode(yaml: yaml, file: file).fields(["endpoints"])
    endpoints = []
    var lines: [String: Int?] = [:]
    for node in try root.required("endpoints", remedy: "write endpoints: with a list below it").list() {
      let endpoint = try ProviderEndpoint(node, mapping: mapping)
      if let first = lines[endpoint.id] {
        throw node.error(
          "has the id '\(endpoint.id)', which another endpoint has\(first.map { " in line \($0)" } ?? "")",
          remedy: "give each endpoint an id of its own")
      }
      lines[endpoint.id] = node.line
      endpoints.append(endpoint)
    }
  }
}
