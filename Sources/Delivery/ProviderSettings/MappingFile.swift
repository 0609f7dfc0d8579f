// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation
package import PaymentProviders

/// A mapping file: the description of a provider, and samples that test it.
package struct MappingFile: Sendable {
  package let mapping: ProviderMapping
  private let file: String
  /// The line of each sample.
  private let sampleLines: [Int?]

  /// Reads a file.
  ///
  /// - Throws: ``ProviderSettingsError``, with the line of the first mistake.
  package init(contentsOf url: URL) throws(ProviderSettingsError) {
    try self.init(SettingsNode(contentsOf: url))
  }

  /// Reads the text of a file.
  ///
  /// - Parameter file: The name of the file, for errors.
  /// - Throws: ``ProviderSettingsError``, with the line of the first mistake.
  package init(yaml: Data, file: String) throws(ProviderSettingsError) {
    try self.init(SettingsNode(yaml: yaml, file: file))
  }

  private init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields([
      "name", "verification", "body", "kinds", "payment", "answer", "path_suffix", "unsigned_ping", "samples",
    ])
    let verification = try MappingVerification(
      fields.required("verification", remedy: "say how requests are verified; see docs/provider-mappings.md"))
    let payment = try fields.required("payment", remedy: "say where id, amount and currency stand")
    let paymentFields = try PaymentFields(payment)
    var mapping = ProviderMapping(
      name: try fields.required("name", remedy: "add the provider's name").text(), verification: verification,
      payment: paymentFields)
    if let body = fields["body"] { mapping.body = try body.choice() }
    if mapping.body == .form, mapping.payment.each != nil {
      throw payment.error("has the key 'each', but a form has no lists", remedy: "remove 'each', or write body: json")
    }
    let kinds = try fields.required("kinds", remedy: "say which requests are payments: - kind: received")
    let rows = try kinds.list()
    for row in rows { mapping.kinds.append(try MappingRow(row)) }
    guard mapping.kinds.contains(where: { if case .payment = $0.meaning { true } else { false } }) else {
      throw kinds.error("has no row that is a payment", remedy: "add a row with kind: received")
    }
    if let answer = try fields["answer"]?.fields(["accepted", "rejected"]) {
      if let accepted = answer["accepted"] { mapping.accepted = try ProviderAnswer(accepted, in: 200...299) }
      if let rejected = answer["rejected"] { mapping.rejected = try ProviderAnswer(rejected, in: 200...599) }
    }
    if let suffix = fields["path_suffix"] {
      let text = try suffix.text()
      guard text.hasPrefix("/"), text.utf8.count > 1, !text.dropFirst().contains("/"),
        text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_/".contains($0)) })
      else {
        throw suffix.error("is not the end of a URL's path", remedy: "write it as the provider appends it: /pix")
      }
      mapping.pathSuffix = text
    }
    mapping.unsignedPing = try fields["unsigned_ping"]?.text()
    try mapping.checkSignedValues(payment.fields(PaymentFields.keys), rows)
    var lines: [Int?] = []
    for sample in try fields["samples"]?.list() ?? [] {
      mapping.samples.append(try MappingSample(sample))
      lines.append(sample.line)
    }
    (self.mapping, sampleLines, file) = (mapping, lines, node.file)
  }

  /// Runs all samples of the file.
  ///
  /// - Returns: An error with the line of each sample whose outcome differs from the expected one; empty if there is
  ///   none.
  package func sampleErrors() -> [ProviderSettingsError] {
    zip(mapping.samples, sampleLines).compactMap { sample, line in
      sample.problem(with: mapping).map { problem in
        ProviderSettingsError(
          .sampleFailed, file: file, line: line, "the sample '\(sample.name)' \(problem)",
          remedy: "correct the mapping or the sample")
      }
    }
  }
}

extension MappingFile {
  /// The name of the folder with the mapping files that come with the program.
  package static let folder = "Providers"

  /// Reads the mapping file of a name. The home folder is searched first, then the program's own files.
  ///
  /// - Parameters:
  ///   - name: The file's name, such as `shopify.yaml`; a name without a folder.
  ///   - home: The folder with the settings.
  ///   - data: The folder with the program's own files.
  /// - Throws: ``ProviderSettingsError``.
  package static func named(_ name: String, home: URL, data: URL) throws(ProviderSettingsError) -> MappingFile {
    guard !name.contains("/"), !name.hasPrefix("."), name.hasSuffix(".yaml"), !name.utf8.contains(0) else {
      throw ProviderSettingsError(
        .valueInvalid, file: String(name.prefix(80)), "is not the name of a mapping file",
        remedy: "give a name without a folder, such as shopify.yaml")
    }
    let shipped = data.appending(path: folder, directoryHint: .isDirectory)
    for folder in [home, shipped] {
      let url = folder.appending(path: name, directoryHint: .notDirectory)
      if FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) {
        return try MappingFile(contentsOf: url)
      }
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: shipped.path(percentEncoded: false))) ?? []
    let known = names.filter { $0.hasSuffix(".yaml") }.sorted()
    let meant = SimilarNames.name(like: name, among: known)
    throw ProviderSettingsError(
      .fileUnreadable, file: name, "there is no such mapping file",
      remedy: meant.map { "did you mean '\($0)'?" }
        ?? "put it into the home folder, or name one of \(known.joined(separator: ", "))")
  }
}
