// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import SoundLibrary
import SpeechEngine
import TestSupport
import Testing

@testable import Announcer

@Suite("Batch")
struct BatchTests {
  private func source(_ list: String) -> BatchSource {
    let pieces = Locked([Array(list.utf8), []])
    return BatchSource { pieces.withLock { $0.removeFirst() } }
  }

  private func outcomes(_ list: String, in workshop: Workshop, limit: Int = 4) async throws -> [BatchOutcome] {
    let source = source(list)
    var outcomes: [BatchOutcome] = []
    try await workshop.announcer.batch(
      { try await source.next() }, into: workshop.library, limit: limit, each: { outcomes.append($0) })
    return outcomes.sorted { $0.line < $1.line }
  }

  private func report(_ outcome: BatchOutcome) -> ClipReport? { try? outcome.result.get() }

  private func code(_ outcome: BatchOutcome) -> String? {
    if case .failure(let error) = outcome.result { ErrorReport(error).code } else { nil }
  }

  static let list = """
    id,amount,currency,channel,locale,text
    1,12.50,CNY,alipay,zh-CN,
    2,12.505,CNY,,zh-CN,
    ,,,,en-US,The shop closes at nine
    4,5,USD,card,xx,
    5,5,USD,card,en-US,
    6,,,,en-US,😀
    7,12.50,CNY,alipay,zh-CN,

    """

  @Test("a batch renders a clip for each row, and reports the error of a row with its line")
  func rows() async throws {
    let workshop = try Workshop()
    let outcomes = try await outcomes(Self.list, in: workshop, limit: 1)
    #expect(outcomes.map(\.line) == [2, 3, 4, 5, 6, 7, 8])
    #expect(outcomes.map(\.id) == ["1", "2", nil, "4", "5", "6", "7"])
    #expect(
      outcomes.map { code($0) } == [nil, "field_invalid", nil, "locale_unknown", nil, "nothing_to_say", nil])
    #expect(
      outcomes.compactMap { report($0)?.text } == [
        "支付宝到账十二元五角", "The shop closes at nine", "Received five dollars by card", "支付宝到账十二元五角",
      ])
    // The last row has the same clip as the first row.
    #expect(outcomes.compactMap { report($0)?.cached } == [false, false, false, true])
    #expect(workshop.files.count == 3)
  }

  @Test("a second run of a batch finds all clips, and renders a deleted clip again with the same bytes")
  func again() async throws {
    let workshop = try Workshop()
    let first = try await outcomes(Self.list, in: workshop)
    let victim = try report(first[0]).orThrow("a report")
    try FileManager.default.removeItem(atPath: victim.clip.path)
    let second = try await outcomes(Self.list, in: workshop, limit: 1)
    #expect(second.compactMap { report($0)?.cached } == [false, true, true, true])
    #expect(report(second[0])?.clip == victim.clip)
  }

  @Test("the JSON of a row is the clip's report, or the row's line with the error's code and message")
  func json() async throws {
    let workshop = try Workshop()
    let outcomes = try await outcomes(Self.list, in: workshop)
    #expect(try outcomes[0].json() == report(outcomes[0]).orThrow("a report").json)
    #expect(
      try outcomes[1].json() == """
        {"error":{"code":"field_invalid","message":"amount: has more decimal digits than CNY has; CNY has 2, and nothing is \
        rounded."},"id":"2","line":3}
        """)
    let unnamed = BatchOutcome(line: 9, id: nil, result: .failure(CocoaError(.fileNoSuchFile)))
    #expect(try unnamed.json().contains(#""id":null,"line":9"#))
    let element = BatchOutcome(line: 9, element: 4, id: "a", result: .failure(CocoaError(.fileNoSuchFile)))
    #expect(try element.json().hasPrefix(#"{"element":4,"error":"#))
  }

  @Test("an invalid option is an error of the whole batch, and no row is read")
  func option() async throws {
    let workshop = try Workshop()
    await #expect(throws: AnnouncerError.self) {
      try await workshop.announcer.batch(
        {
          Issue.record("a row was requested")
          return nil
        }, options: RenderOptions(rate: 9), into: workshop.library, limit: 1, each: { _ in })
    }
  }

  @Test("an output folder that cannot be written ends the batch with its error")
  func output() async throws {
    let workshop = try Workshop()
    let container = workshop.directory.appending(path: "group.crier")
    try Data().write(to: container)
    var taken = 0
    let source = source(Self.list)
    let error = await #expect(throws: SoundLibraryError.self) {
      try await workshop.announcer.batch(
        { try await source.next() }, into: workshop.library, limit: 1, each: { _ in taken += 1 })
    }
    #expect(error?.code == .notAFolder)
    #expect(taken == 0)
  }

  @Test("a folder or a link in place of a clip does not make the row fail, and the clip is made again")
  func folderAsClip() async throws {
    let workshop = try Workshop()
    let clip = try report(try await outcomes(Self.list, in: workshop)[0]).orThrow("a report").clip
    try FileManager.default.removeItem(atPath: clip.path)
    try FileManager.default.createDirectory(atPath: clip.path, withIntermediateDirectories: false)
    for _ in 1...2 {
      let outcomes = try await outcomes(Self.list, in: workshop)
      let again = try report(outcomes[0]).orThrow("a report")
      #expect(!again.cached && again.clip.sha256 == clip.sha256)
      #expect(report(outcomes[2])?.cached == true)
      try FileManager.default.removeItem(atPath: clip.path)
      try FileManager.default.createSymbolicLink(atPath: clip.path, withDestinationPath: "/etc/passwd")
    }
  }

  @Test(
    "a missing engine ends the batch, and an engine that fails at a text is an error of that row",
    arguments: [
      (SpeechEngineError.Code.engineUnavailable, true), (.textUnspeakable, false), (.voiceUnknown, false),
      (.speakerDied, false),
    ])
  func engine(code: SpeechEngineError.Code, ends: Bool) async throws {
    var taken: [String?] = []
    var thrown: (any Error)?
    let source = source("text\na\nb\n")
    do {
      try await Announcer.batch({ try await source.next() }, limit: 1, each: { taken.append(self.code($0)) }) { _ in
        throw SpeechEngineError(code, "speaking", "failed", remedy: "none")
      }
    } catch { thrown = error }
    #expect((thrown as? SpeechEngineError)?.code == (ends ? code : nil))
    #expect(taken == (ends ? [] : [code.rawValue, code.rawValue]))
  }

  @Test("a long batch never exceeds the limit of concurrent rows, and delivers each outcome once")
  func long() async throws {
    let count = 50_000
    let report = try report(try await outcomes("text\nHello\n", in: try Workshop())[0]).orThrow("a report")
    let watch = Watch()
    var sum = 0
    try await Announcer.batch(
      { watch.next(of: count).map { BatchRow(line: $0, announcement: .success(.text("Hello", locale: nil))) } },
      limit: 6,
      each: { outcome in
        watch.take()
        sum += outcome.line
      },
      render: { _ in
        watch.begin()
        watch.end()
        return report
      })
    #expect(sum == count * (count + 1) / 2)
    #expect(watch.most <= 6)
    #expect(watch.farthestAhead <= 6)
  }
}
