// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

@testable import Announcer

@Suite("Voice packs that change while the program runs")
struct PackFollowingTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  /// An announcer that looks for changed packs at every call.
  private var announcer: Announcer {
    Announcer(
      phraseBooks: workshop.announcer.phraseBooks, readers: workshop.announcer.readers, engine: workshop.engine,
      packs: VoicePackShelf(folders: [workshop.voices], storage: .copied, interval: .zero))
  }

  private func report(_ announcer: Announcer) async throws -> ClipReport {
    try await announcer.render(try Workshop.payment(), into: nil).report
  }

  @Test("without a new announcer, a pack that is added speaks, and a pack that is removed does not")
  func addedAndRemoved() async throws {
    let announcer = announcer
    #expect(try await report(announcer).method == "speech")
    try await workshop.writePack("shop", in: "zh-CN", isSynthesized: false)
    #expect(try await report(announcer).voice == "shop")
    try FileManager.default.removeItem(at: workshop.voices.appending(path: "shop"))
    #expect(try await report(announcer).method == "speech")
  }

  @Test("a pack that replaces another one speaks, and its clips have other names than the earlier pack's clips")
  func replaced() async throws {
    try await workshop.writePack("shop", in: "zh-CN", isSynthesized: false)
    let announcer = announcer
    let earlier = try await report(announcer)
    try FileManager.default.removeItem(at: workshop.voices.appending(path: "shop"))
    try await workshop.writePack("shop", in: "zh-CN", isSynthesized: false) { clips in
      clips.map { clip in
        var clip = clip
        clip.waveform.samples.reverse()
        return clip
      }
    }
    let later = try await report(announcer)
    #expect(later.voice == "shop")
    #expect(later.clip.name != earlier.clip.name && later.clip.sha256 != earlier.clip.sha256)
  }

  @Test("if the new files of a pack are broken, its last good version speaks until the pack is repaired or removed")
  func broken() async throws {
    try await workshop.writePack("shop", in: "zh-CN", isSynthesized: false)
    let announcer = announcer
    let earlier = try await report(announcer)
    #expect(await announcer.packStates().map(\.fault) == [nil])
    let clip = workshop.voices.appending(path: "shop/0001.wav")
    let good = try Data(contentsOf: clip)
    var changed = good
    changed[changed.count - 1] ^= 0x40
    for bytes in [changed, Data(good.prefix(100)), Data()] {
      try bytes.write(to: clip)
      #expect(try await report(announcer).clip.sha256 == earlier.clip.sha256)
      let states = await announcer.packStates()
      #expect(states.map { $0.fault != nil } == [true])
      #expect(states.map(\.speaksEarlierVersion) == [true])
    }
    try Data("{".utf8).write(to: workshop.voices.appending(path: "shop/\(PackManifest.fileName)"))
    #expect(try await report(announcer).clip.sha256 == earlier.clip.sha256)
    try FileManager.default.removeItem(at: workshop.voices.appending(path: "shop"))
    #expect(try await report(announcer).method == "speech")
    #expect(await announcer.packStates() == [])
  }

  @Test("a pack whose files were broken from the start speaks only after a repair")
  func repaired() async throws {
    try await workshop.writePack("shop", in: "zh-CN", isSynthesized: false)
    let clip = workshop.voices.appending(path: "shop/0001.wav")
    let good = try Data(contentsOf: clip)
    try Data(good.dropLast(2)).write(to: clip)
    let announcer = announcer
    #expect(try await report(announcer).method == "speech")
    try good.write(to: clip)
    #expect(try await report(announcer).voice == "shop")
  }

  @Test("the reported changes name exactly the packs that were added, replaced, removed, broken and repaired")
  func changes() {
    let fault = ErrorReport(code: "clip_changed", message: "x")
    let broken = PackState(id: "c", fault: fault)
    let earlier = [PackState(id: "a", digest: "1"), PackState(id: "b", digest: "1"), PackState(id: "c", digest: "1")]
    let later = [PackState(id: "b", digest: "2"), broken, PackState(id: "d", digest: "1")]
    #expect(
      PackChange.changes(from: earlier, to: later)
        == [.replaced(id: "b"), .broken(broken), .added(id: "d"), .removed(id: "a")])
    #expect(PackChange.changes(from: later, to: later) == [])
    #expect(PackChange.changes(from: [broken], to: [PackState(id: "c", digest: "1")]) == [.mended(id: "c")])
  }
}
