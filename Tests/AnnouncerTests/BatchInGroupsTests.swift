// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import FileSystem
import Foundation
import SoundLibrary
import TestSupport
import Testing

@testable import Announcer

@Suite("Batch with clips in groups")
struct BatchInGroupsTests {
  private func source(_ list: String) -> BatchSource {
    let pieces = Locked([Array(list.utf8), []])
    return BatchSource { pieces.withLock { $0.removeFirst() } }
  }

  private func amounts(_ amounts: some Sequence<Int>) -> String {
    amounts.reduce(into: "amount,currency,locale\n") { $0 += "\($1),CNY,zh-CN\n" }
  }

  private func code(_ outcome: BatchOutcome) -> String? {
    if case .failure(let error) = outcome.result { ErrorReport(error).code } else { nil }
  }

  private func outcomes(
    _ list: String, _ announcer: Announcer, into library: SoundLibrary, limit: Int = 4
  ) async throws -> [BatchOutcome] {
    let source = source(list)
    var outcomes: [BatchOutcome] = []
    try await announcer.batch(
      { try await source.next() }, inGroupsInto: library, limit: limit, each: { outcomes.append($0) })
    return outcomes
  }

  @Test(
    "a batch has the same outcomes, order and clips, whether it publishes the clips in groups or one by one"
  )
  func sameAsSingly() async throws {
    let (grouped, single) = (try Workshop(), try Workshop())
    let ours = try await outcomes(BatchTests.list, grouped.announcer, into: grouped.library, limit: 1)
    let source = source(BatchTests.list)
    var theirs: [BatchOutcome] = []
    try await single.announcer.batch(
      { try await source.next() }, into: single.library, limit: 1, each: { theirs.append($0) })
    let paths = [grouped.library, single.library].map { $0.soundsDirectory.path(percentEncoded: false) }
    #expect(
      try ours.map { try $0.json().replacing(paths[0], with: paths[1]) } == theirs.map { try $0.json() })
    #expect(grouped.files.sorted() == single.files.sorted())
    for name in grouped.files { #expect(try grouped.library.contents(of: name) == single.library.contents(of: name)) }
  }

  @Test(
    "a row whose clip was made for an earlier row counts as already there, even before the clip is published",
    arguments: [1, 6])
  func duplicates(limit: Int) async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    let list = amounts((0..<120).map { $0 / 40 + 1 })
    let outcomes = try await outcomes(list, announcer, into: workshop.library, limit: limit)
    #expect(outcomes.count == 120)
    let made = try outcomes.count { try !$0.result.get().cached }
    #expect(made >= 3)
    #expect(made <= 3 * limit)
    #expect(workshop.files.count == 3)
  }

  @Test(
    "the outcome of a row is delivered only after its clip's bytes, name and folder were synchronized, in this order")
  func durable() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    let disk = RecordedDisk()
    let library = SoundLibrary(container: workshop.library.container, calls: disk.calls)
    let source = source(amounts(1...200))
    var rows = 0
    try await announcer.batch(
      { try await source.next() }, inGroupsInto: library, limit: 6,
      each: { outcome in
        rows += 1
        let name = try outcome.result.get().clip.name
        #expect(disk.isDurable(name))
      })
    #expect(rows == 200)
    #expect(disk.faults.isEmpty)
    #expect(workshop.files.count == 200)
    try await eventually { !workshop.files.contains { $0.hasPrefix(".") } }
  }

  @Test("a full disk ends the batch with an error, and the clip of each delivered row exists")
  func fullDisk() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    var calls = FileSystemCalls.system
    let (left, write) = (Locked(60), calls.write)
    calls.write = { (file, bytes) throws(SystemError) in
      let isFull = left.withLock { left in
        left -= 1
        return left < 0
      }
      if isFull { throw SystemError(number: ENOSPC) }
      return try write(file, bytes)
    }
    let library = SoundLibrary(container: workshop.library.container, calls: calls)
    let source = source(amounts(1...200))
    var delivered: [String] = []
    let error = await #expect(throws: SoundLibraryError.self) {
      try await announcer.batch(
        { try await source.next() }, inGroupsInto: library, limit: 4,
        each: { delivered.append(try $0.result.get().clip.name) })
    }
    #expect(error?.code == .noSpace)
    #expect(!delivered.isEmpty && delivered.count <= 60)
    #expect(Set(delivered).isSubset(of: workshop.files))
    try await eventually { !workshop.files.contains { $0.hasPrefix(".") } }
    // With free space, the same list is completed.
    let outcomes = try await outcomes(amounts(1...200), announcer, into: workshop.library)
    #expect(outcomes.allSatisfy { code($0) == nil })
    #expect(workshop.files.count == 200)
  }

  @Test("a cancelled batch delivers only rows whose clips exist, and leaves no temporary file")
  func cancelled() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    let source = source(amounts(1...5_000))
    let delivered = Locked<[String]>([])
    let library = workshop.library
    let task = Task {
      try await announcer.batch(
        { try await source.next() }, inGroupsInto: library, limit: 4,
        each: { outcome in
          let name = try outcome.result.get().clip.name
          let count = delivered.withLock { names in
            names.append(name)
            return names.count
          }
          if count == 50 { withUnsafeCurrentTask { $0?.cancel() } }
        })
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let names = delivered.withLock { $0 }
    #expect(names.count >= 50 && names.count < 200)
    #expect(Set(names).isSubset(of: workshop.files))
    // A clip that was given up is removed with its last reference, which a thread may hold a moment longer.
    try await eventually { !workshop.files.contains { $0.hasPrefix(".") } }
  }

  @Test("two simultaneous batches of the same list leave one file for each clip")
  func two() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN")
    async let one = outcomes(amounts(1...150), announcer, into: workshop.library)
    async let other = outcomes(amounts((1...150).reversed()), announcer, into: workshop.library)
    for outcome in try await one + other { #expect(code(outcome) == nil) }
    #expect(workshop.files.count == 150)
    try await eventually { !workshop.files.contains { $0.hasPrefix(".") } }
  }
}

/// A disk that knows which clips would survive a power cut, and in which order the calls arrived.
private final class RecordedDisk: Sendable {
  private struct State {
    var names: [Int32: String] = [:]
    var synchronized: Set<String> = []
    var renamed: Set<String> = []
    var durable: Set<String> = []
    var faults: [String] = []
  }

  private let state = Locked(State())

  var faults: [String] { state.withLock(\.faults) }

  func isDurable(_ name: String) -> Bool { state.withLock { $0.durable.contains(name) } }

  var calls: FileSystemCalls {
    let system = FileSystemCalls.system
    var calls = system
    calls.createFile = { [state] (folder, name, permissions) throws(SystemError) in
      let file = try system.createFile(folder, name, permissions)
      state.withLock {
        $0.names[file] = name
        $0.synchronized.remove(name)
      }
      return file
    }
    calls.write = { [state] (file, bytes) throws(SystemError) in
      state.withLock { if let name = $0.names[file] { $0.synchronized.remove(name) } }
      return try system.write(file, bytes)
    }
    calls.synchronize = { [state] (file) throws(SystemError) in
      // Only names that were there when the call began are on the disk when it ends.
      let before = state.withLock(\.renamed)
      try system.synchronize(file)
      let isFile = try system.status(file).isRegularFile
      state.withLock { state in
        if isFile {
          if let name = state.names[file] { state.synchronized.insert(name) }
        } else {
          state.durable.formUnion(before)
        }
      }
    }
    calls.rename = { [state] (folder, name, newName) throws(SystemError) in
      state.withLock { if !$0.synchronized.contains(name) { $0.faults.append("\(newName) before its bytes") } }
      try system.rename(folder, name, newName)
      _ = state.withLock { $0.renamed.insert(newName) }
    }
    return calls
  }
}
