// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import FuzzedReaders
import TestSupport
import Testing

/// A share of `make fuzz` that needs no build of its own, and is not guided by what code an input reaches.
@Suite("Readers of untrusted bytes")
struct FuzzedReaderChecks {
  /// The number of random inputs for each reader.
  private static let randomCount = Int(ProcessInfo.processInfo.environment["CRIER_FUZZED_INPUTS"] ?? "") ?? 5_000

  @Test(
    "no input that the fuzzer found, and no random change of such an input, breaks a rule or ends the program",
    arguments: FuzzedReader.all.map(\.name))
  func inputs(name: String) throws {
    let reader = try #require(FuzzedReader.all.first { $0.name == name })
    let seeds = try Self.seeds(of: name)
    try #require(!seeds.isEmpty)
    for seed in seeds { reader.read(seed) }
    var random = SplitMix64(seed: 1)
    for _ in 0..<Self.randomCount { reader.read(Self.change(of: seeds, longest: reader.longest, using: &random)) }
  }

  /// Returns the stored inputs of a reader. Uploads and recordings have the same ones.
  private static func seeds(of name: String) throws -> [[UInt8]] {
    let folder = Checkout.installation.data
      .appending(path: "Tests/Fixtures/fuzz/\(name == "recording" ? "sound" : name)")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
      .map { Array(try Data(contentsOf: $0)) }
  }

  /// Returns one of the inputs after one to six random changes.
  private static func change(
    of seeds: [[UInt8]], longest: Int, using random: inout SplitMix64
  ) -> [UInt8] {
    var bytes = seeds.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let start = Int.random(in: 0...bytes.count, using: &random)
      let part = start..<min(bytes.count, start + Int.random(in: 1...16, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: for index in part.prefix(1) { bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
      case 1: for index in part.prefix(1) { bytes[index] = edges.randomElement(using: &random) ?? 0 }
      case 2: bytes.insert(contentsOf: part.map { _ in UInt8.random(in: 0...255, using: &random) }, at: start)
      case 3: bytes.removeSubrange(part)
      case 4: bytes.insert(contentsOf: bytes[part], at: start)
      default:
        // The end of another input, so that two formats meet.
        let other = seeds.randomElement(using: &random) ?? []
        bytes = Array(bytes[..<start] + other.dropFirst(Int.random(in: 0...other.count, using: &random)))
      }
    }
    return Array(bytes.prefix(longest))
  }

  /// Bytes that parsers treat in a special way.
  private static let edges = [0, 1, 127, 128, 255] + Array("\t\n\r\"',-.09;[\\]{}".utf8)
}
