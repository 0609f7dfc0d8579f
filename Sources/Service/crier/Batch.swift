// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Announcer
public import ArgumentParser
import Foundation
import SoundFiles

struct Batch: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Renders the announcements in a list and publishes the clips in the group's Library/Sounds.",
    discussion: """
      The list is CSV, whose first row names the columns, JSON lines, with one payload on each line, or a JSON array \
      of payloads. The fields of CSV are separated by commas, semicolons or tabs, as in the first row. The columns and \
      keys are those of a payload: amount (or minor), currency, kind, channel, payer, note, locale, id, sequence, \
      occurred_at; or text and locale. The id is optional.

      A row with an error is reported with its line number, and the other rows are still rendered. A clip that is \
      already in the folder is not rendered again, so an interrupted batch continues when it is run again.

      Errors, progress and a summary go to standard error; only --json writes to standard output. Exit status: 1 if a \
      row failed, else as for every command.

      EXAMPLES
        crier batch amounts.csv --locale zh-CN
        (echo amount,currency; seq -f %.0f,INR 100) | crier batch - --locale hi-IN
      """)

  @Argument(
    help: ArgumentHelp("The list: a CSV or JSON file, or - for standard input.", valueName: "file"),
    completion: .file(extensions: ["csv", "tsv", "jsonl", "json"]))
  var path: String

  @Option(
    help:
      "The format of the list: csv, or jsonl, which is also a JSON array. (default: jsonl if it begins with { or [{)"
  )
  var inputFormat: BatchRows.Format?

  @Option(help: "The default language, for rows that name no language: a BCP 47 tag such as en-US.")
  var locale: String?

  @Option(help: "The number of clips to render at once, 1 to \(Self.mostJobs). (default: 3 for each CPU core)")
  var jobs: Int?

  @Flag(help: "Reject rows with unknown keys, and a list with unknown columns.")
  var strict = false

  @Flag(help: "Print one line of JSON for each finished row: its report, or its line, id and error.")
  var json = false

  @OptionGroup(title: "Voice") var clip: ClipOptions

  @Option(help: "The file format: \(SoundFormat.Container.allCases.map(\.rawValue).joined(separator: ", ")).")
  var format: SoundFormat.Container = .wav

  @OptionGroup var sound: SoundOptions

  @OptionGroup(title: "Publishing") var publishing: PublishingOptions
  @OptionGroup(title: "Limits") var limits: KeepingOptions
  @OptionGroup(title: "Files") var files: DataOptions

  /// The maximum number of clips rendered at once. It is the number of requests that may wait for the engine.
  private static let mostJobs = 256

  func validate() throws {
    if let jobs, !(1...Self.mostJobs).contains(jobs) {
      throw ValidationError("--jobs \(jobs) is out of range: give 1 to \(Self.mostJobs).")
    }
  }

  func perform() async throws {
    // A closed standard output must be reported as an error, and not end the process with a signal.
    signal(SIGPIPE, SIG_IGN)
    let hasFailures = try await Interruption.cancelling { try await makeClips() }
    if hasFailures { throw ExitCode.failure }
  }

  /// - Returns: Whether any row failed.
  private func makeClips() async throws -> Bool {
    let library = try publishing.library()
    let list = try ListBytes(path: path)
    let source = BatchSource(format: inputFormat, unknownKeys: strict ? .refuse : .warn) { try await list.next() }
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let jobs = jobs ?? min(3 * cores, Self.mostJobs)
    let announcer = try files.announcer(speakers: min(jobs, cores), copiesPacks: true)
    let unknownColumns = try await source.unknownColumns()
    // The names are only kept if old clips are removed at the end, because a list may have a million rows.
    var published: Set<String> = []
    var reporter = BatchReporter(totalBytes: list.totalBytes, printsJSON: json)
    if !unknownColumns.isEmpty { reporter.noteUnused(unknownColumns) }
    do {
      try await announcer.batch(
        {
          var row = try await source.next()
          // Unknown columns were already reported once, above.
          if !unknownColumns.isEmpty { row?.warnings = [] }
          return row
        },
        options: clip.renderOptions(
          locale: locale, format: SoundFormat(container: format, encoding: sound.encoding),
          sampleRate: sound.sampleRate),
        inGroupsInto: library, limit: jobs
      ) { outcome in
        if limits.isGiven, case .success(let report) = outcome.result { published.insert(report.clip.name) }
        try reporter.take(outcome)
      }
    } catch {
      // Finished rows keep their clips. The summary still counts them, and the next run does not render them again.
      if reporter.progress.rows > 0 { reporter.end() }
      if error is CancellationError { Terminal.note("Interrupted. Run the command again to make the remaining rows.") }
      throw error
    }
    reporter.end()
    await limits.pruneIfAsked(library, to: publishing, own: published)
    return reporter.progress.failed > 0
  }
}

extension BatchRows.Format: ExpressibleByArgument {}

/// Reports each finished row, to people on standard error and to programs as JSON on standard output.
struct BatchReporter {
  private(set) var progress: BatchProgress
  private var display: ProgressDisplay
  private let printsJSON: Bool
  private let start = ContinuousClock.now

  init(totalBytes: Int?, printsJSON: Bool) {
    progress = BatchProgress(totalBytes: totalBytes)
    // JSON lines on the same terminal would be mixed into the progress bar.
    let hasOtherLines = printsJSON && Terminal.isDrawable
    display = ProgressDisplay(style: Terminal.canRedrawMessages && !hasOtherLines ? .bar : .lines)
    self.printsJSON = printsJSON
  }

  /// - Throws: ``CommandError``.
  mutating func take(_ outcome: BatchOutcome) throws {
    if printsJSON { try StandardOutput.write(try outcome.json()) }
    let ending: BatchProgress.Ending
    switch outcome.result {
    case .success(let report):
      ending = report.cached ? .cached : .made(bytes: report.clip.bytes)
    case .failure(let error):
      ending = .failed
      let place = outcome.element.map { ", element \($0)" } ?? ""
      note("line \(outcome.line)\(place): \(Failures.asTyped(ErrorReport(error).message))")
    }
    let time = ContinuousClock.now - start
    progress.add(ending, endOffset: outcome.endOffset, at: time)
    Terminal.writeMessage(display.update(progress, at: time) { Terminal.messageColumns })
  }

  /// Warns about unknown columns, which may be misspelled.
  mutating func noteUnused(_ columns: [String]) {
    let names = columns.map { "\"\(Terminal.printable($0))\"" }.joined(separator: ", ")
    note("unknown column\(columns.count == 1 ? "" : "s"), not spoken: \(names)")
  }

  private mutating func note(_ message: String) { Terminal.writeMessage(display.message(message)) }

  /// Removes the progress bar and prints the summary.
  mutating func end() { note(progress.summary(at: ContinuousClock.now - start)) }
}
