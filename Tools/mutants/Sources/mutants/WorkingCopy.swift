// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A copy of the project in which mistakes are made and tested, so that nobody's work tree is touched. It is kept, and so
/// is its build.
struct WorkingCopy {
  /// The result of building and testing the copy.
  enum Verdict: Equatable {
    case passed
    /// A test failed, the tests crashed, or they took too long.
    case failed
    case notBuilt
  }

  let folder: URL
  /// The targets of tests that are built.
  let tests: [String]
  private let log: URL

  /// Copies the files of a Git work tree that Git knows or would add, as they are now.
  init(of project: URL, tests: [String]) throws {
    folder = project.appending(path: ".build/mutants/tree", directoryHint: .isDirectory)
    log = project.appending(path: ".build/mutants/log")
    self.tests = tests
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let list = log.deletingLastPathComponent().appending(path: "files")
    // Equal files keep their times, so that the copy's build stays valid.
    let script = """
      git ls-files --cached --others --exclude-standard -z | while IFS= read -r -d '' file; do
        [ -e "$file" ] && printf '%s\\0' "$file"
      done >"$1" && rsync --archive --checksum --from0 --files-from="$1" . "$2"
      """
    guard
      try Self.run(["bash", "-c", script, "mutants", list.path, folder.path], in: project, within: 120) == .ended(0)
    else { throw Fault("The project could not be copied to \(folder.path). Check that git and rsync are installed.") }
  }

  struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// Builds the copy and runs its tests.
  ///
  /// - Parameter limit: The longest time for the tests, in seconds. The build may take an hour.
  func verdict(within limit: Double) throws -> Verdict {
    let environment = ["CRIER_TESTS": tests.joined(separator: ",")]
    let build = ["swift", "build", "--product", "crierPackageTests"]
    guard try Self.run(build, in: folder, environment, log, within: 3_600) == .ended(0) else { return .notBuilt }
    let run = [".build/debug/crierPackageTests.xctest", "--testing-library", "swift-testing"]
    return try Self.run(run, in: folder, environment, log, within: limit) == .ended(0) ? .passed : .failed
  }

  /// The last lines that the build or the tests wrote.
  var lastLines: String {
    let lines = ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n")
    return lines.suffix(20).joined(separator: "\n")
  }

  private enum End: Equatable { case ended(Int32), tookTooLong }

  /// Runs a command, and ends it and what it has started when its time is over.
  private static func run(
    _ words: [String], in folder: URL, _ variables: [String: String] = [:], _ log: URL? = nil, within seconds: Double
  ) throws -> End {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["--kill-after=5", "\(max(1, Int(seconds)))"] + words
    process.currentDirectoryURL = folder
    let width = ["SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": "8"]
    // Many mistakes crash. A process that writes a backtrace would be waited for, and may hang.
    let settings = variables.merging(width) { given, _ in given }.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    var environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
    // A mistake may leave a warning, such as one of a variable that is not used. It must build all the same.
    environment["CRIER_WARNINGS_AS_ERRORS"] = nil
    process.environment = environment
    if let log {
      guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
        throw Fault("\(log.path) cannot be written. Check the disk and the folder.")
      }
      let file = try FileHandle(forWritingTo: log)
      (process.standardOutput, process.standardError) = (file, file)
    } else {
      process.standardOutput = FileHandle.nullDevice
    }
    try process.run()
    process.waitUntilExit()
    // timeout(1) has the status 124, or 137 if it had to kill.
    guard process.terminationReason == .exit, ![124, 137].contains(process.terminationStatus) else {
      return .tookTooLong
    }
    return .ended(process.terminationStatus)
  }
}
