// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Mutations

@main
struct Mutants: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes small mistakes in a target, one at a time, and runs the tests that should notice them.",
    discussion: """
      A mistake that no test notices is printed as a difference: it shows a rule without a test, or code that does
      nothing. Mistakes that do not compile do not count. The same seed and sources give the same mistakes.
      The status is 1 if fewer than 90 in 100 are noticed.
      """)

  @Option(help: ArgumentHelp("The target.", valueName: "name"))
  var target: String

  @Option(help: "The number of mistakes.")
  var count = 20

  @Option(help: "The seed of the choice.")
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("The targets of tests, with commas; TARGETTests if none are given.", valueName: "names"))
  var tests: String?

  mutating func run() throws {
    let project = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
    let suites = tests.map { $0.split(separator: ",").map(String.init) } ?? ["\(target)Tests"]
    let copy = try WorkingCopy(of: project, tests: suites)
    guard let folder = Self.folder(of: target, in: copy.folder) else {
      throw ValidationError("--target \(target): Sources has no such folder.")
    }
    let sources = try Self.sources(in: folder)
    var generator = SplitMix64(seed: seed)
    let all = sources.flatMap { file, text in MutationFinder.mutations(in: text).map { (file, text, $0) } }
    let candidates = all.shuffled(using: &generator)
    Self.note("\(target): \(candidates.count) possible mistakes in \(sources.count) files. The tests are built first.")
    guard try copy.verdict(within: 3_600) == .passed else {
      throw WorkingCopy.Fault("The tests \(suites.joined(separator: ", ")) fail without a mistake:\n\(copy.lastLines)")
    }
    // Now that all is built, this is the time that the tests take.
    let start = ContinuousClock.now
    _ = try copy.verdict(within: 3_600)
    let usual = start.duration(to: .now) / .seconds(1)
    var survivors: [String] = []
    var (made, notBuilt) = (0, 0)
    for (file, text, mutation) in candidates where made < count {
      try mutation.applied(to: text).write(to: file, atomically: true, encoding: .utf8)
      defer { try? text.write(to: file, atomically: true, encoding: .utf8) }
      let verdict = try copy.verdict(within: max(60, usual * 5))
      guard verdict != .notBuilt else {
        notBuilt += 1
        continue
      }
      made += 1
      let place = "\(file.path.dropFirst(copy.folder.path.count + 1)):\(mutation.line(in: text))"
      Self.note(
        "\(made) of \(count): \(verdict == .failed ? "noticed" : "NOT NOTICED"): \(place), \(mutation.kind.rawValue)")
      if verdict == .passed { survivors.append("\(place)\n\(mutation.difference(in: text))") }
    }
    for survivor in survivors { print("\(survivor)\n") }
    let noticed = made - survivors.count
    print("\(target): \(noticed) of \(made) mistakes were noticed; \(notBuilt) more did not compile (seed \(seed)).")
    if noticed * 10 < made * 9 { throw ExitCode(1) }
  }

  private static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  /// Returns the folder of a target: `Sources/GROUP/TARGET`.
  private static func folder(of target: String, in project: URL) -> URL? {
    let sources = project.appending(path: "Sources")
    let groups = (try? FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)) ?? []
    return groups.map { $0.appending(path: target, directoryHint: .isDirectory) }
      .first { FileManager.default.fileExists(atPath: $0.path) }
  }

  private static func sources(in folder: URL) throws -> [(URL, String)] {
    let files =
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    return try files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
      .map { ($0, try String(contentsOf: $0, encoding: .utf8)) }
  }
}

/// Sebastiano Vigna's generator SplitMix64, whose numbers are the same on every machine.
private struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
