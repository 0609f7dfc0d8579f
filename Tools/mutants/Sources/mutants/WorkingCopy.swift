// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Mutations

/// A copy of the project in which mistakes are made and tested, so that nobody's work tree is touched. It is kept, and so
/// is its build.
struct WorkingCopy {
  /// The result of a run of the tests.
  enum Result: String {
    case passed = "NOT NOTICED"
    /// A test failed, or the tests crashed.
    case failed = "noticed"
    case tookTooLong = "noticed, because the tests took too long"
  }

  /// The place of a compiler's error. Line and column are counted from 1, and the column in bytes.
  struct Place: Hashable {
    let file: String
    let line: Int
    let column: Int
  }

  let folder: URL
  /// The targets of tests that are built.
  let tests: [String]
  private let log: URL

  /// Copies the files of a Git work tree that Git knows or would add, as they are now, and removes other files of an
  /// earlier copy.
  init(of project: URL, tests: [String]) throws {
    folder = project.appending(path: ".build/mutants/tree", directoryHint: .isDirectory)
    log = project.appending(path: ".build/mutants/log")
    self.tests = tests
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let list = log.deletingLastPathComponent().appending(path: "files")
    // Equal files keep their times, so that the copy's build stays valid.
    let script = """
      git ls-files --cached --others --exclude-standard -z | while IFS= read -r -d '' file; do
        if [ -e "$file" ]; then printf '%s\\0' "$file"; fi
      done | LC_ALL=C sort -z >"$1" && rsync --archive --checksum --from0 --files-from="$1" . "$2" && cd "$2" &&
      find . -path ./.build -prune -o -name Package.resolved -o ! -type d -printf '%P\\0' | LC_ALL=C sort -z |
      LC_ALL=C comm -z -23 - "$1" | xargs -0 -r rm --
      """
    let copying = ["bash", "-c", script, "mutants", list.path, folder.path]
    guard try Self.run(copying, in: project, within: 3_600) == 0 else {
      throw Fault("The project could not be copied to \(folder.path). Check that git and rsync are installed.")
    }
  }

  struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// Builds the copy's tests within an hour, and returns the places of errors.
  func build() throws -> [Place] {
    let build = ["swift", "build", "--product", "crierPackageTests", "-debug-info-format", "none"]
    if try Self.run(build, in: folder, environment, log, within: 3_600) == 0 { return [] }
    let places = output.matches(of: #/(?m)^(/[^:\n]+):(\d+):(\d+): error: /#).compactMap { match -> Place? in
      guard let line = Int(match.2), let column = Int(match.3) else { return nil }
      return Place(file: String(match.1), line: line, column: column)
    }
    guard !places.isEmpty else { throw Fault("The copy cannot be built:\n\(lastLines)") }
    return places
  }

  /// Runs the tests that were built, until the first one fails.
  ///
  /// - Parameters:
  ///   - mutant: The number of the mistake that is active.
  ///   - limit: The longest time, in seconds.
  ///   - computing: The longest computing time, in seconds. A mistake that never ends is found by it even on a busy
  ///     machine, where the tests wait for the processor.
  func test(mutant: Int?, within limit: Double, computing: Double) throws -> Result {
    let run = [
      "bash", "-c", "ulimit -t $0 && exec .build/debug/crierPackageTests.xctest --testing-library swift-testing",
      "\(Int(computing))",
    ]
    let variables = environment.merging([SwitchedSource.variable: mutant.map(String.init) ?? ""]) { $1 }
    func hasFailed() -> Bool { output.contains(" recorded an issue") }
    let status = try Self.run(run, in: folder, variables, log, within: limit, until: hasFailed)
    // timeout(1) has the status 124, or 137 if it had to kill.
    return switch status {
    case _ where hasFailed(): .failed
    case 0: .passed
    case 124, 137: .tookTooLong
    default: .failed
    }
  }

  /// The computing time of the commands that have ended, in seconds.
  static var computingTime: Double {
    var usage = rusage()
    getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
  }

  private var environment: [String: String] { ["CRIER_TESTS": tests.joined(separator: ",")] }

  /// The output of the build or the tests.
  private var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  /// The last lines that the build or the tests wrote.
  var lastLines: String { output.split(separator: "\n").suffix(20).joined(separator: "\n") }

  /// Runs a command, and returns its status. Ends the command and the processes that it has started when its time is
  /// over, or when its result is known. A command that is ended by a signal has the status that a shell gives it.
  private static func run(
    _ words: [String], in folder: URL, _ variables: [String: String] = [:], _ log: URL? = nil, within seconds: Double,
    until isKnown: () -> Bool = { false }
  ) throws -> Int32 {
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
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    while ended.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      if process.isRunning, isKnown() { process.terminate() }
    }
    return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
  }
}
