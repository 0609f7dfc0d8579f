// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Mutations

@main
struct Mutants: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes small mistakes in a target, and runs the tests that should notice them, once for each mistake.",
    discussion: """
      A mistake that no test notices is printed as a difference: it shows a rule without a test, or code that does
      nothing. All mistakes are built together, each behind a switch; those that do not compile do not count. The same
      seed and sources give the same mistakes. The status is 1 if fewer than 90 in 100 are noticed.
      """)

  @Option(help: ArgumentHelp("The target, or a folder in it: TARGET/FOLDER.", valueName: "name"))
  var target: String

  @Option(help: "The number of mistakes.")
  var count = 20

  @Option(help: "The seed of the choice.")
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("The targets of tests, with commas; TARGETTests if none are given.", valueName: "names"))
  var tests: String?

  mutating func run() throws {
    let project = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
    let module = String(target.prefix { $0 != "/" })
    let suites = tests.map { $0.split(separator: ",").map(String.init) } ?? ["\(module)Tests"]
    let copy = try WorkingCopy(of: project, tests: suites)
    guard let folder = Self.folder(of: target, in: copy.folder), let top = Self.folder(of: module, in: copy.folder)
    else {
      throw ValidationError("--target \(target): Sources has no such folder.")
    }
    try SwitchedSource.switchFile.write(to: top.appending(path: "Mutant.swift"), atomically: true, encoding: .utf8)
    let sources = try Self.sources(in: folder)
    var generator = SplitMix64(seed: seed)
    let candidates = sources.flatMap { file, text in MutationFinder.mutations(in: text).map { (file, text, $0) } }
      .shuffled(using: &generator)
    Self.note("\(target): \(candidates.count) possible mistakes in \(sources.count) files.")

    // Up to half of the mistakes do not compile, so more are tried at once.
    var (built, next, notBuilt) = ([Int](), 0, 0)
    while true {
      if built.count < count, next < candidates.count {
        let end = min(candidates.count, next + 2 * (count - built.count))
        built += next..<end
        next = end
      }
      let switched = try Self.write(built.map { ($0, candidates[$0].0, candidates[$0].2) }, into: sources)
      let errors = try copy.build()
      if errors.isEmpty { break }
      let wrong = Set(errors.compactMap { switched[$0.file]?.number(atLine: $0.line, column: $0.column) })
      guard !wrong.isEmpty else { throw WorkingCopy.Fault("The copy cannot be built:\n\(copy.lastLines)") }
      built.removeAll(where: wrong.contains)
      notBuilt += wrong.count
      Self.note("\(wrong.count) mistakes do not compile, and are left out.")
    }
    built = Array(built.prefix(count))

    let (start, computed) = (ContinuousClock.now, WorkingCopy.computingTime)
    guard try copy.test(mutant: nil, within: 3_600, computing: 3_600) == .passed else {
      throw WorkingCopy.Fault("The tests \(suites.joined(separator: ", ")) fail without a mistake:\n\(copy.lastLines)")
    }
    let limit = max(300, 10 * (start.duration(to: .now) / .seconds(1)))
    let computing = max(30, 5 * (WorkingCopy.computingTime - computed))
    var survivors: [String] = []
    for (index, number) in built.enumerated() {
      let (file, text, mutation) = candidates[number]
      let result = try copy.test(mutant: number, within: limit, computing: computing)
      let place = "\(file.path.dropFirst(copy.folder.path.count + 1)):\(mutation.line(in: text))"
      Self.note("\(index + 1) of \(built.count): \(result.rawValue): \(place), \(mutation.kind.rawValue)")
      if result == .passed { survivors.append("\(place)\n\(mutation.difference(in: text))") }
    }
    for survivor in survivors { print("\(survivor)\n") }
    let noticed = built.count - survivors.count
    print(
      "\(target): \(noticed) of \(built.count) mistakes were noticed; \(notBuilt) more did not compile (seed \(seed)).")
    if noticed * 10 < built.count * 9 { throw ExitCode(1) }
  }

  /// Writes the sources with the switches of mistakes, and returns what was written by the paths of the files.
  private static func write(
    _ mutations: [(number: Int, file: URL, Mutation)], into sources: [(URL, String)]
  ) throws -> [String: SwitchedSource] {
    var switched: [String: SwitchedSource] = [:]
    for (file, text) in sources {
      let chosen = mutations.filter { $0.file == file }.map { ($0.number, $0.2) }
      let source = SwitchedSource(text, Dictionary(uniqueKeysWithValues: chosen))
      switched[file.path] = source
      // A file that stays as it is keeps its time, so that less is built.
      guard try String(contentsOf: file, encoding: .utf8) != source.text else { continue }
      try source.text.write(to: file, atomically: true, encoding: .utf8)
    }
    return switched
  }

  private static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  /// Returns the folder of a target: `Sources/GROUP/TARGET`, or one in it.
  private static func folder(of target: String, in project: URL) -> URL? {
    let sources = project.appending(path: "Sources")
    let groups = (try? FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)) ?? []
    return groups.map { $0.appending(path: target, directoryHint: .isDirectory) }
      .first { FileManager.default.fileExists(atPath: $0.path) }
  }

  private static func sources(in folder: URL) throws -> [(URL, String)] {
    let files =
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    return try files.filter { $0.pathExtension == "swift" && $0.lastPathComponent != "Mutant.swift" }
      .sorted { $0.path < $1.path }.map { ($0, try String(contentsOf: $0, encoding: .utf8)) }
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
