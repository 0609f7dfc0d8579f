// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundLibrary
import Testing

@testable import DeviceClient
@testable import LibraryCopies

@Suite("Tones in a copy of the library")
struct ToneCopyTests {
  private let phone: TemporaryCopy
  private var service: PlayedService { phone.service }
  private var library: SoundLibrary { SoundLibrary(container: phone.container) }

  init() throws { phone = try TemporaryCopy() }

  @Test(
    "a tone arrives where iOS looks for it, and is replaced or removed there when the service replaces or removes it")
  func life() async throws {
    service.addTone("chime.wav", [1, 2])
    let first = try await phone.update()
    #expect(first.changedTones == ["chime.wav"] && first.refused == 0)
    #expect(phone.clips == ["chime.wav": [1, 2]])
    #expect(phone.copy().manifest().tones.keys.sorted() == ["chime.wav"])

    service.addTone("chime.wav", [3])
    #expect(try await phone.update().changedTones == ["chime.wav"])
    #expect(phone.clips == ["chime.wav": [3]])

    service.remove("tone", "chime.wav")
    #expect(try await phone.update().removedTones == ["chime.wav"])
    #expect(phone.clips.isEmpty)
    #expect(phone.left.isEmpty)
  }

  @Test("a tone that the app or the user has added is neither replaced nor removed")
  func foreign() async throws {
    _ = try library.publish([9], as: "chime.wav")
    service.addTone("chime.wav", [1])
    let update = try await phone.update()
    #expect(update.changedTones.isEmpty && update.refused == 1 && update.fetchedFiles == 0)
    service.remove("tone", "chime.wav")
    #expect(try await phone.update().removedTones.isEmpty)
    #expect(phone.clips == ["chime.wav": [9]])
  }

  @Test("a fetched tone that somebody has replaced stays as it is")
  func replaced() async throws {
    service.addTone("chime.wav", [1])
    service.addTone("bell.wav", [2])
    try await phone.update()
    _ = try library.publish([9], as: "chime.wav")
    _ = try library.publish([8], as: "bell.wav")
    service.addTone("chime.wav", [3])
    service.remove("tone", "bell.wav")
    let update = try await phone.update()
    #expect(update.refused == 1 && update.removedTones.isEmpty)
    #expect(phone.clips == ["bell.wav": [8], "chime.wav": [9]])
    #expect(phone.copy().manifest().tones.isEmpty)
  }

  @Test("a tone is not fetched if the phone has it with the listed bytes")
  func same() async throws {
    _ = try library.publish([1], as: "chime.wav")
    service.addTone("chime.wav", [1])
    #expect(try await phone.update().fetchedFiles == 0)
    #expect(phone.copy().manifest().tones.keys.sorted() == ["chime.wav"])
  }

  @Test("a complete list removes the fetched tones that it does not name")
  func wholeList() async throws {
    service.addTone("chime.wav", [1])
    service.addTone("bell.wav", [2])
    try await phone.update()
    _ = try library.publish([9], as: "own.wav")
    service.remove("tone", "bell.wav")
    service.state.withLock { $0.firstAnchor = 3 }
    #expect(try await phone.update().removedTones == ["bell.wav"])
    #expect(phone.clips.keys.sorted() == ["chime.wav", "own.wav"])
  }

  @Test("a damaged or missing tone does not prevent clips from arriving, and a later update fetches the tone")
  func setbacks() async throws {
    let damaged = service.addTone("chime.wav", [1])
    let gone = service.addTone("bell.wav", [2])
    service.addClip(clip(1), [3])
    service.state.withLock {
      $0.lies[damaged] = [7]
      $0.files[gone] = nil
    }
    #expect(await phone.failure()?.code == .fileDamaged)
    #expect(phone.clips == [clip(1): [3]])
    service.state.withLock { $0.lies[damaged] = nil }
    let update = try await phone.update()
    #expect(update.changedTones == ["chime.wav"] && update.missing == 1)
  }

  @Test(
    "a tone is refused if its name is not a sound file's or is a clip's",
    arguments: ["../x.wav", "x/y.wav", ".hidden.wav", "", "chime", "chime.mp3", "a\u{0}.wav", clip(1)])
  func names(_ name: String) {
    var plan = LibraryPlan(from: LibraryManifest(), isWholeList: true)
    let file = LibraryChange.File(sha256: String(repeating: "0", count: 64), byteCount: 1)
    plan.add([LibraryChange(kind: .tone, name: name, change: .present(file))])
    plan.end(at: "end")
    #expect(plan.tones.isEmpty && plan.refused == 1)
  }

  @Test("a copy with the manifest of an earlier version lists everything again, because that version ignored tones")
  func earlierVersion() async throws {
    service.addTone("chime.wav", [1])
    service.addClip(clip(1), [2])
    try await phone.update()
    let file = phone.places.manifest
    var manifest = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    manifest["format"] = 1
    manifest["tones"] = nil
    try JSONSerialization.data(withJSONObject: manifest).write(to: file)
    try FileManager.default.removeItem(at: library.url(for: "chime.wav"))
    service.reset()
    let update = try await phone.update()
    #expect(update.changedTones == ["chime.wav"] && update.changedClips.isEmpty)
    #expect(service.requests.first == "changes limit=1000")
  }
}
