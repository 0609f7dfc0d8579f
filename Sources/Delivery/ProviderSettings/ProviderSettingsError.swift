// SPDX-License-Identifier: Apache-2.0

/// The error for `providers.yaml` or a mapping file. It contains no secret.
package struct ProviderSettingsError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case fileUnreadable = "file_unreadable"
    /// Users other than the owner may read the file, which holds secrets.
    case fileNotPrivate = "file_not_private"
    /// The file is not YAML.
    case yamlMalformed = "yaml_malformed"
    case keyUnknown = "key_unknown"
    case keyMissing = "key_missing"
    case valueInvalid = "value_invalid"
    /// The provider sends no sum, or does not sign the values that Crier needs.
    case providerUnsupported = "provider_unsupported"
    /// The outcome of a sample in a mapping file differs from the expected one.
    case sampleFailed = "sample_failed"
  }

  package var code: Code
  /// The name of the file, without its folder.
  package var file: String
  /// The line, counted from 1; nil if the error is about the file as a whole.
  package var line: Int?
  /// What is wrong.
  package var problem: String
  /// What to do.
  package var remedy: String

  package init(_ code: Code, file: String, line: Int? = nil, _ problem: String, remedy: String) {
    (self.code, self.file, self.line, self.problem, self.remedy) = (code, file, line, problem, remedy)
  }

  package var description: String {
    file + (line.map { ":\($0)" } ?? "") + ": \(problem); \(remedy)" + (remedy.hasSuffix("?") ? "" : ".")
  }
}
