// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import Testing

@Suite("A clip that is already in the folder")
struct CachedClipTests {
  private func rendered(_ workshop: Workshop) async throws -> (RenderedClip, URL) {
    let clip = try await workshop.announcer.render(try Workshop.payment(channel: "alipay"), into: workshop.library)
    return (clip, URL(filePath: clip.report.clip.path))
  }

  @Test("a clip in the folder is used again, and the reports of both requests differ only in the field 'cached'")
  func reused() async throws {
    let workshop = try Workshop()
    let (first, url) = try await rendered(workshop)
    let written = try url.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
    let (second, _) = try await rendered(workshop)
    #expect(second.report.cached)
    var expected = first.report
    expected.cached = true
    #expect(second.report == expected)
    #expect(second.waveform == first.waveform)
    #expect(try url.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate == written)
  }

  @Test(
    "a clip in the folder is rendered again if its file is empty, short, damaged or has another clip",
    arguments: [
      "empty", "short", "one byte short", "zeros in the middle", "one sample changed", "trailing", "other clip",
    ])
  func damaged(damage: String) async throws {
    let workshop = try Workshop()
    let (clip, url) = try await rendered(workshop)
    var bytes = clip.bytes
    switch damage {
    case "empty": bytes = []
    case "short": bytes.removeLast(bytes.count / 2)
    case "one byte short": bytes.removeLast()
    case "zeros in the middle": bytes.replaceSubrange(40_960..<45_056, with: repeatElement(0, count: 4_096))
    case "one sample changed": bytes[50_000] ^= 1
    case "trailing": bytes += [0, 0]
    default: bytes = try await workshop.announcer.render(try Workshop.payment("7"), into: nil).bytes
    }
    try Data(bytes).write(to: url)
    let (again, _) = try await rendered(workshop)
    #expect(!again.report.cached)
    #expect(try [UInt8](Data(contentsOf: url)) == clip.bytes)
  }

  @Test("concurrent requests for one clip publish it once and leave no other file")
  func together() async throws {
    let workshop = try Workshop()
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<12 {
        group.addTask { try await rendered(workshop).0.report.clip.sha256 }
      }
      let digests = try await group.reduce(into: Set()) { $0.insert($1) }
      #expect(digests.count == 1)
    }
    #expect(workshop.files.count == 1)
  }
}
