// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import ProviderSettings
import TestSupport
import Testing

@Suite("Mapping files that come with the program")
struct ShippedMappingTests {
  @Test(
    "each shipped mapping file is read, and all of its samples have the expected outcomes",
    arguments: ShippedMappings.names)
  func samples(name: String) throws {
    let file = try ShippedMappings.file(name)
    #expect(file.mapping.samples.count >= 3)
    #expect(file.sampleErrors().map(\.description) == [])
  }

  @Test("the tests cover every shipped mapping file")
  func complete() throws {
    let folder = ShippedMappings.data.appending(path: MappingFile.folder).path(percentEncoded: false)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(Set(files) == Set(ShippedMappings.names.map { $0 + ".yaml" }))
  }

  @Test("a shipped mapping file counts as signed only if its scheme covers the body")
  func signed() throws {
    let unsigned = try ShippedMappings.names.filter { try !ShippedMappings.file($0).mapping.isSigned }
    #expect(unsigned == ["flutterwave-v3", "mpesa", "phonepe", "pix", "sepay-api-key", "xendit"])
  }

  @Test("the example in the documentation of mapping files is read, and its samples have the expected outcomes")
  func example() throws {
    let page = ShippedMappings.data.appending(path: "docs/provider-mappings.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix("    name: ") })
    let block = lines[start...].prefix { $0.isEmpty || $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
    let file = try MappingFile(yaml: Data(block.joined(separator: "\n").utf8), file: "example.yaml")
    #expect(file.mapping.isSigned && file.mapping.samples.count == 4)
    #expect(file.sampleErrors().map(\.description) == [])
  }
}
