// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Announcer
public import ArgumentParser
import Foundation
import SoundFiles

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

struct Batch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes the clips of a list, and publishes them in Library/Sounds of the group.",
    discussion: """
      The list is CSV whose first row names its columns, or JSON lines: a payload a line. Columns and keys are a \
      payload's: amount (or minor), currency, kind, channel, payer, note, locale, id, sequence, occurred_at; or text and \
      locale. An id may be left out.

      A row with a fault is reported with its line, and the rest goes on. A clip that stands in the folder is not made \
      again: a batch that was ended, however it was, does what is left when it is run again.

      Faults, progress and a summary go to standard error; standard output stays empty but for --json. Exit status: 1 \
      when a row failed, else as for every command.

      EXAMPLES
        crier batch amounts.csv --locale zh-CN
        (echo amount,currency; seq -f %.0f,INR 100) | crier batch - --locale hi-IN
      """)

  @Argument(
    help: ArgumentHelp("A list: a file of CSV or JSON lines, or - for standard input.", valueName: "file"),
    completion: .file(extensions: ["csv", "jsonl"]))
  var path: String

  @Option(help: "How the list is written: csv, jsonl. (default: jsonl when it begins with {, else csv)")
  var inputFormat: BatchRows.Format?

  @Option(help: "The language, by BCP 47, of rows that name none.")
  var locale: String?

  @Option(help: "How many clips are made at once, 1 to \(Self.mostJobs). (default: 3 for each core)")
  var jobs: Int?

  @Flag(help: "Refuse rows with keys, and a list with columns, that nobody reads.")
  var strict = false

  @Flag(help: "Print a line of JSON for each row as it ends: the report, or line, id and error.")
  var json = false

  @OptionGroup(title: "How to say it") var clip: ClipOptions

  @Option(help: "The file: \(SoundFormat.Container.allCases.map(\.rawValue).joined(separator: ", ")).")
  var format: SoundFormat.Container = .wav

  @Option(help: "The samples: \(SoundFormat.Encoding.allCases.map(\.rawValue).joined(separator: ", ")).")
  var encoding: SoundFormat.Encoding = .pcm16

  @OptionGroup(title: "Where clips go") var publishing: PublishingOptions
  @OptionGroup(title: "Files") var files: DataOptions

  /// As many as may wait for the engine.
  private static let mostJobs = 256

  func validate() throws {
    if let jobs, !(1...Self.mostJobs).contains(jobs) {
      throw ValidationError("--jobs \(jobs) is out of range: give 1 to \(Self.mostJobs).")
    }
  }

  func run() async throws {
    // A reader that has gone is an error to report, not a signal to die of.
    signal(SIGPIPE, SIG_IGN)
    var hasFailures = false
    try await Failures.reported { hasFailures = try await makeClips() }
    if hasFailures { throw ExitCode.failure }
  }

  /// - Returns: whether a row failed.
  private func makeClips() async throws -> Bool {
    let library = try publishing.library()
    let list = try ListBytes(path: path)
    let source = BatchSource(format: inputFormat, unknownKeys: strict ? .refuse : .warn) { try await list.next() }
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let jobs = jobs ?? min(3 * cores, Self.mostJobs)
    let announcer = try files.announcer(speakers: min(jobs, cores))
    let unknownColumns = try await source.unknownColumns()
    var reporter = BatchReporter(totalBytes: list.totalBytes, printsJSON: json)
    if !unknownColumns.isEmpty { reporter.noteUnused(unknownColumns) }
    do {
      try await announcer.batch(
        {
          var row = try await source.next()
          // Columns that are not used are named once, above.
          if !unknownColumns.isEmpty { row?.warnings = [] }
          return row
        },
        options: clip.renderOptions(locale: locale, format: SoundFormat(container: format, encoding: encoding)),
        into: library, limit: jobs, each: { try reporter.take($0) })
    } catch {
      // What was done before it is not lost, nor is it when the batch is run again.
      if reporter.progress.rows > 0 { reporter.end() }
      throw error
    }
    reporter.end()
    return reporter.progress.failed > 0
  }
}

extension BatchRows.Format: ExpressibleByArgument {}

/// Tells a person, and a program that reads standard output, how each row ended.
struct BatchReporter {
  private(set) var progress: BatchProgress
  private var display: ProgressDisplay
  private let printsJSON: Bool
  private let start = ContinuousClock.now

  init(totalBytes: Int?, printsJSON: Bool) {
    progress = BatchProgress(totalBytes: totalBytes)
    // Lines of JSON on the same terminal would be written into the bar.
    let hasOtherLines = printsJSON && Terminal.isDrawable
    display = ProgressDisplay(style: Terminal.canRedrawMessages && !hasOtherLines ? .bar : .lines)
    self.printsJSON = printsJSON
  }

  /// - Throws: `StandardOutput.Failure`.
  mutating func take(_ outcome: BatchOutcome) throws {
    if printsJSON { try StandardOutput.write(try outcome.json()) }
    let ending: BatchProgress.Ending
    switch outcome.result {
    case .success(let report):
      ending = report.cached ? .cached : .made(bytes: report.clip.bytes)
    case .failure(let error):
      ending = .failed
      note("line \(outcome.line): \(Failures.asTyped(ErrorReport(error).message))")
    }
    let time = ContinuousClock.now - start
    progress.add(ending, endOffset: outcome.endOffset, at: time)
    Terminal.writeMessage(display.update(progress, at: time) { Terminal.messageColumns })
  }

  /// Warns of columns, which may be misspelt.
  mutating func noteUnused(_ columns: [String]) {
    let names = columns.map { "\"\(Terminal.printable($0))\"" }.joined(separator: ", ")
    note("not used: the column\(columns.count == 1 ? "" : "s") \(names)")
  }

  private mutating func note(_ message: String) { Terminal.writeMessage(display.message(message)) }

  /// Removes the bar and says what was done.
  mutating func end() { note(progress.summary(at: ContinuousClock.now - start)) }
}
