// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DeviceClient
@testable import LibraryCopies

@Suite("The plan of an update")
struct LibraryPlanTests {
  private func file(_ number: Int, _ bytes: Int = 100) -> LibraryChange.File {
    LibraryChange.File(sha256: String(repeating: "0", count: 60) + "\(1_000 + number)", byteCount: bytes)
  }

  private func added(_ number: Int, _ bytes: Int = 100) -> LibraryChange {
    LibraryChange(kind: .clip, name: clip(number), change: .present(file(number, bytes)))
  }

  private func plan(
    _ changes: [LibraryChange], from current: LibraryManifest = LibraryManifest(), isWholeList: Bool = true,
    budget: Int = LibraryPlan.standardBudget
  ) -> LibraryPlan {
    var plan = LibraryPlan(from: current, isWholeList: isWholeList, budget: budget)
    plan.add(changes)
    plan.end(at: "end")
    return plan
  }

  @Test("the first update fetches everything: first the voice packs by their ids, then the clips, newest first")
  func first() {
    let plan = plan([
      added(1), LibraryChange(kind: .pack, name: "b", change: .present(file(8))),
      LibraryChange(kind: .pack, name: "a", change: .present(file(9))), added(2),
    ])
    #expect(plan.packs.map(\.name) == ["a", "b"])
    #expect(plan.clips.map(\.name) == [clip(2), clip(1)])
    #expect(plan.removedPacks.isEmpty && plan.removedClips.isEmpty && plan.refused == 0)
    #expect(plan.manifest.anchor == "end")
    #expect(plan.manifest.packs == ["a": file(9), "b": file(8)])
  }

  @Test("an empty list of changes fetches and removes no file")
  func nothing() {
    let current = plan([added(1)]).manifest
    let next = plan([], from: current, isWholeList: false)
    #expect(next.clips.isEmpty && next.packs.isEmpty && next.removedClips.isEmpty)
    #expect(next.manifest.clips == current.clips)
  }

  @Test("a file with the same digest is not fetched, and a file with a changed digest is fetched")
  func changed() {
    let current = plan([added(1), added(2)]).manifest
    var change = added(2)
    change.change = .present(file(7))
    let next = plan([added(1), change], from: current, isWholeList: false)
    #expect(next.clips.map(\.file) == [file(7)])
  }

  @Test("if a list has several entries for the same name, the last entry counts")
  func several() {
    let removed = LibraryChange(kind: .clip, name: clip(1), change: .removed)
    #expect(plan([added(1), removed]).clips.isEmpty)
    #expect(plan([removed, added(1)]).clips.map(\.name) == [clip(1)])
    #expect(plan([added(1), added(1)]).clips.count == 1)
  }

  @Test("the removal of a file that the phone does not have is ignored")
  func unknownRemoved() {
    let next = plan([LibraryChange(kind: .pack, name: "../x", change: .removed)], isWholeList: false)
    #expect(next.removedPacks.isEmpty)
  }

  @Test("a complete list removes the files that it does not name, and a list of changes does not")
  func wholeList() {
    var current = plan([added(1), added(2)]).manifest
    current.packs = ["old": file(5)]
    let whole = plan([added(2)], from: current)
    #expect(whole.removedClips == [clip(1)])
    #expect(whole.removedPacks == ["old"])
    #expect(whole.clips.isEmpty)
    #expect(plan([added(2)], from: current, isWholeList: false).removedClips.isEmpty)
  }

  @Test("unknown kinds of files, and unknown changes of files, are ignored")
  func unknown() {
    let next = plan([
      LibraryChange(kind: .other("film"), name: "../x", change: .present(file(1))),
      LibraryChange(kind: .clip, name: clip(1), change: .other("moved")),
      LibraryChange(kind: .pack, name: "a", change: .other("moved")),
    ])
    #expect(next.clips.isEmpty && next.packs.isEmpty && next.refused == 0)
  }

  @Test(
    "names that would lead out of the folder, or replace a tone, are refused",
    arguments: ["../x", "../x.wav", "x/y.wav", ".hidden.wav", "cash.wav", "", "..", "a\u{0}.wav"])
  func names(_ name: String) {
    let next = plan([
      LibraryChange(kind: .clip, name: name, change: .present(file(1))),
      LibraryChange(
        kind: .pack, name: name == "cash.wav" ? "a/b" : name == "x/y.wav" ? "x/y" : name, change: .present(file(2))),
    ])
    #expect(next.clips.isEmpty && next.packs.filter { $0.name.contains("/") || $0.name.hasPrefix(".") }.isEmpty)
    #expect(next.refused == 2)
  }

  @Test("files without bytes, or beyond the size limit of a clip or a manifest, are refused")
  func sizes() {
    let next = plan([
      added(1, 0), added(2, (16 << 20) + 1), LibraryChange(kind: .pack, name: "a", change: .present(file(1, 0))),
      LibraryChange(kind: .pack, name: "b", change: .present(file(1, (4 << 20) + 1))),
    ])
    #expect(next.clips.isEmpty && next.packs.isEmpty)
    #expect(next.refused == 4)
  }

  @Test("the newest clips that fit into the budget are kept, and all other clips are removed")
  func budget() {
    let current = plan([added(1), added(2), added(3)], budget: 300).manifest
    let next = plan([added(4)], from: current, isWholeList: false, budget: 300)
    #expect(next.clips.map(\.name) == [clip(4)])
    #expect(next.removedClips == [clip(1)])
    #expect(next.manifest.clips.count == 3)
  }

  @Test("a small old clip is not kept in place of a newer clip, and a clip above the budget displaces no other clip")
  func budgetOrder() {
    let old = plan([added(1, 10), added(2, 200), added(3, 150)], budget: 300)
    #expect(old.clips.map(\.name) == [clip(3)])
    let large = plan([added(1, 100), added(2, 301)], budget: 300)
    #expect(large.clips.map(\.name) == [clip(1)])
    #expect(plan([added(1, 1)], budget: 0).clips.isEmpty)
  }

  @Test("voice packs are kept, whatever the budget is")
  func packsBeyondBudget() {
    let next = plan([LibraryChange(kind: .pack, name: "a", change: .present(file(1, 1_000)))], budget: 10)
    #expect(next.packs.count == 1)
  }

  @Test("the plan for a long list of clips keeps only a few clips in memory")
  func longList() {
    var plan = LibraryPlan(from: LibraryManifest(), isWholeList: true, budget: 1_000)
    for page in 0..<100 {
      plan.add((0..<100).map { added(page * 100 + $0) })
      #expect(plan.manifest.clips.count <= 40)
    }
    plan.end(at: "end")
    #expect(plan.clips.map(\.name) == (9_990..<10_000).reversed().map { clip($0) })
  }
}
