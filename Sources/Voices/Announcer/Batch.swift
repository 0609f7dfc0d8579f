// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
public import SoundLibrary
import SpeechEngine
import TextFormats

/// The outcome of one row of a list of announcements.
public struct BatchOutcome: Sendable {
  /// The number of the line on which the row begins, counted from 1.
  public var line: Int
  /// The number of the element in a JSON array, counted from 1; `nil` for a list that is not a JSON array.
  public var element: Int?
  public var id: String?

  /// The offset in the list, in bytes, at which the row ends.
  public var endOffset = 0
  public var result: Result<ClipReport, any Error>

  /// Returns one line of JSON: the report, or `{"error": {"code": "…", "message": "…"}, "id": "…", "line": 7}`, with
  /// `element` for a list that is a JSON array.
  ///
  /// - Parameter reported: Returns the public report for an error.
  /// - Throws: The errors of `JSONEncoder`. None occurs for a report.
  public func json(reporting reported: (any Error) -> ErrorReport = ErrorReport.init) throws -> String {
    switch result {
    case .success(let report): return try report.json
    case .failure(let error):
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let failure = Failure(line: line, element: element, id: id, error: reported(error))
      return String(decoding: try encoder.encode(failure), as: UTF8.self)
    }
  }

  private struct Failure: Encodable {
    var line: Int
    var element: Int?
    @ExplicitNull var id: String?
    var error: ErrorReport
  }
}

extension Announcer {
  /// Renders and publishes the announcements of a list, several at a time. Clips that already exist are not rendered
  /// again.
  ///
  /// Memory use and the number of tasks do not grow with the list, because a row is read only when it can be rendered
  /// at once. Outcomes are delivered in the order of completion, which can differ from the order of the rows.
  ///
  /// - Parameters:
  ///   - rows: Returns the next row, such as ``BatchSource/next()``, or `nil` at the end.
  ///   - limit: The number of rows rendered at the same time. It is at least 1, and at most the number of requests that
  ///     may wait for the engine.
  ///   - permit: The permit to request before rendering a clip that is not in the library yet.
  ///   - keeps: Called for each clip before its row's outcome is delivered. It returns false if the clip was removed
  ///     meanwhile; the clip is then rendered again.
  ///   - each: Receives an outcome. It runs in the caller's isolation.
  /// - Throws: Errors that would also occur for every other row: an invalid option, an unavailable engine, an output
  ///   that cannot be written. Also the errors of `rows` and `each`, and `CancellationError`. An error that concerns
  ///   only one row becomes the outcome of that row.
  public func batch(
    _ rows: @escaping @Sendable () async throws -> BatchRow?, options: RenderOptions = RenderOptions(),
    into library: SoundLibrary?, limit: Int, permit: NewClipPermit = .always,
    keeps: @escaping @Sendable (ClipReport) async throws -> Bool = { _ in true },
    each: (BatchOutcome) async throws -> Void
  ) async throws {
    try options.check()
    try packs.check(options.pack)
    try await Self.batch(rows, limit: limit, each: each) { announcement in
      while true {
        let report = try await Self.waitingForEngine {
          try await self.render(announcement, options: options, into: library, permit: permit).report
        }
        if try await keeps(report) { return report }
      }
    }
  }

  /// Repeats a rendering for as long as the engine's queue is full because of other work. This is not an error of the
  /// row, so the row waits for its turn.
  static func waitingForEngine<Value>(_ render: () async throws -> Value) async throws -> Value {
    while true {
      do {
        return try await render()
      } catch let error as SpeechEngineError where error.code == .queueFull {
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  /// - Parameter render: Renders the clip of an announcement.
  static func batch(
    _ rows: @escaping @Sendable () async throws -> BatchRow?, limit: Int,
    each: (BatchOutcome) async throws -> Void, render: @escaping @Sendable (Announcement) async throws -> ClipReport
  ) async throws {
    try await concurrently(
      limit: limit, next: rows,
      work: { await outcome(of: $0, render: render) },
      each: { outcome in
        if case .failure(let error) = outcome.result, failsEveryRow(error) { throw error }
        try await each(outcome)
      })
  }

  /// Returns the outcome of a row.
  static func outcome(
    of row: BatchRow, render: (Announcement) async throws -> ClipReport
  ) async -> BatchOutcome {
    var outcome = BatchOutcome(
      line: row.line, element: row.element, id: row.id, endOffset: row.endOffset, result: .failure(CancellationError()))
    do {
      var report = try await render(try row.announcement.get())
      // A text need not have an id, but its row may have one.
      report.id = report.id ?? row.id
      report.warnings = row.warnings + report.warnings
      outcome.result = .success(report)
    } catch {
      outcome.result = .failure(error)
    }
    return outcome
  }

  /// Whether the remaining rows would fail in the same way.
  static func failsEveryRow(_ error: any Error) -> Bool {
    switch error {
    case let error as SpeechEngineError: error.code == .engineUnavailable
    // The name of one clip may belong to a folder that cannot be moved away, which concerns only that clip. All other
    // library errors concern the whole output.
    case let error as SoundLibraryError: error.action != .naming && error.code != .notAFile
    default: false
    }
  }
}
