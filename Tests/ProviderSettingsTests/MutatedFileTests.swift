// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings
import TestSupport
import Testing

@Suite("Changed mapping files")
struct MutatedFileTests {
  private static let tokens = [
    "\"\\uD800\"", "\"\\xFF\"", "!!binary ", "!!float ", "!<x> ", "*a", "? ", "<<: ", "|\n", ">-\n", "- ", "{", "[",
    "]", "}",
    "\t", "%YAML 9.9\n", "---\n", "...\n", "'", "\"", "#", ": ", "\u{0}", "\u{FEFF}", "\u{2028}", "\r", "~", "&x",
    "0x7f", "1e999",
  ]

  @Test(
    "a mapping file with random changes is read, or refused with an error that has a remedy",
    arguments: ShippedMappings.names)
  func mutations(name: String) throws {
    let url = ShippedMappings.data.appending(path: MappingFile.folder).appending(path: name + ".yaml")
    let original = try Data(contentsOf: url)
    var generator = SplitMix64(seed: 20_261_128)
    for _ in 0..<60 {
      var yaml = original
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        let index = Int.random(in: 0..<yaml.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: yaml[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: yaml.removeSubrange(index..<min(yaml.count, index + Int.random(in: 1..<40, using: &generator)))
        default: yaml.insert(contentsOf: Data((Self.tokens.randomElement(using: &generator) ?? "").utf8), at: index)
        }
      }
      do {
        let file = try MappingFile(yaml: yaml, file: "changed.yaml")
        for sample in file.mapping.samples { _ = sample.signedRequest(by: file.mapping) }
      } catch {
        #expect(error.file == "changed.yaml" && !error.remedy.isEmpty)
      }
    }
  }
}
