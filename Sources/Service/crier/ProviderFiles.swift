// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings

/// The files with the settings for payment providers' webhooks: `providers.yaml`, and the mapping files that it names.
struct ProviderFiles: Sendable {
  let home: CrierHome
  /// The folder with the program's own files.
  let data: URL

  /// Reads the endpoints; none if there is no `providers.yaml`.
  ///
  /// - Throws: `ProviderSettingsError`.
  func endpoints() throws(ProviderSettingsError) -> [ProviderEndpoint] {
    guard !CrierHome.isMissing(home.providers) else { return [] }
    return try ProvidersFile.read(home.providers) { (name) throws(ProviderSettingsError) in
      try MappingFile.named(name, home: home.directory, data: data).mapping
    }.endpoints
  }

  /// A text that changes when one of the files has changed; nil if there is no `providers.yaml`.
  var version: String? {
    guard !CrierHome.isMissing(home.providers) else { return nil }
    let mappings = [home.directory, data.appending(path: MappingFile.folder)].flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? [])
        .filter { $0.pathExtension == "yaml" }
    }
    return ([home.providers] + mappings.sorted { $0.path < $1.path }).map { file in
      // If the settings are a link, the file that they lead to changes, and not the link.
      let target = file.resolvingSymlinksInPath()
      let attributes = try? FileManager.default.attributesOfItem(atPath: target.path(percentEncoded: false))
      let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate
      let values =
        ["\(time ?? 0)"]
        + [.size, .systemFileNumber, .posixPermissions].map { (key: FileAttributeKey) in
          "\(attributes?[key] ?? "-")"
        }
      return ([file.lastPathComponent] + values).joined(separator: " ")
    }.joined(separator: "\n")
  }
}
