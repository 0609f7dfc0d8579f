// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
public import SoundLibrary
import SpeechEngine

/// How a row of a list ended.
public struct BatchOutcome: Sendable {
  /// On which the row begins, from 1.
  public var line: Int
  public var id: String?

  /// How many bytes of the list end with the row.
  public var endOffset: Int
  public var result: Result<ClipReport, any Error>

  public init(line: Int, id: String?, endOffset: Int = 0, result: Result<ClipReport, any Error>) {
    self.line = line
    self.id = id
    self.endOffset = endOffset
    self.result = result
  }

  /// One line of JSON: the report, or `{"error": {"code": "…", "message": "…"}, "id": "…", "line": 7}`.
  ///
  /// - Parameter reported: what is said of an error.
  /// - Throws: what `JSONEncoder` throws, which a report does not make it do.
  public func json(reporting reported: (any Error) -> ErrorReport = ErrorReport.init) throws -> String {
    switch result {
    case .success(let report): return try report.json
    case .failure(let error):
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let failure = Failure(line: line, id: id, error: reported(error))
      return String(decoding: try encoder.encode(failure), as: UTF8.self)
    }
  }

  private struct Failure: Encodable {
    var line: Int
    var id: String?
    var error: ErrorReport

    enum CodingKeys: String, CodingKey { case line, id, error }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(line, forKey: .line)
      try fields.encode(id, forKey: .id)
      try fields.encode(error, forKey: .error)
    }
  }
}

extension Announcer {
  /// Renders and publishes the announcements of a list, several at a time; what stands already is left as it is.
  ///
  /// Memory and tasks do not grow with the list. Rows are asked for as there is room for them; each outcome is handed
  /// over as it comes, which is not the order of the rows.
  ///
  /// - Parameters:
  ///   - rows: where the rows come from, such as ``BatchSource/next()``; `nil` at the end.
  ///   - limit: how many are rendered at once, 1 or more; no more than may wait for the engine.
  ///   - permit: asked for before a clip is made that does not stand in the library.
  ///   - keeps: asked of each clip that was made or found, before its row's outcome; false for one that was removed since:
  ///     it is made again.
  ///   - each: takes in an outcome; runs where the caller does.
  /// - Throws: what would fail every other row too: the fault of an option, an engine that is unavailable, an output
  ///   that cannot be written; what `rows` and `each` throw; `CancellationError`. A fault of one row is its outcome.
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
        do {
          let report = try await self.render(announcement, options: options, into: library, permit: permit).report
          if try await keeps(report) { return report }
        } catch let error as SpeechEngineError where error.code == .queueFull {
          // Others have filled the queue; it is no fault of the row, which waits for its turn.
          try await Task.sleep(for: .milliseconds(200))
        }
      }
    }
  }

  /// - Parameter render: what makes a clip of an announcement.
  static func batch(
    _ rows: @escaping @Sendable () async throws -> BatchRow?, limit: Int,
    each: (BatchOutcome) async throws -> Void, render: @escaping @Sendable (Announcement) async throws -> ClipReport
  ) async throws {
    try await concurrently(
      limit: limit, next: rows,
      work: { row in
        var outcome = BatchOutcome(
          line: row.line, id: row.id, endOffset: row.endOffset, result: .failure(CancellationError()))
        do {
          var report = try await render(try row.announcement.get())
          // A text has no id of its own; its row may.
          report.id = report.id ?? row.id
          report.warnings = row.warnings + report.warnings
          outcome.result = .success(report)
        } catch {
          outcome.result = .failure(error)
        }
        return outcome
      },
      each: { outcome in
        if case .failure(let error) = outcome.result, failsEveryRow(error) { throw error }
        try await each(outcome)
      })
  }

  /// Whether the rows that are left would fail as this one did.
  private static func failsEveryRow(_ error: any Error) -> Bool {
    switch error {
    case let error as SpeechEngineError: error.code == .engineUnavailable
    // One clip's name may be taken by a folder; all else is the matter of the whole output.
    case let error as SoundLibraryError: error.action != .naming && error.code != .notAFile
    default: false
    }
  }
}
