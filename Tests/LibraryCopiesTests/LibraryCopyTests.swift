// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import FileSystem
import Foundation
import SoundDownloads
import SoundLibrary
import Testing
import VoicePacks

@testable import LibraryCopies

@Suite("A copy of the library")
struct LibraryCopyTests {
  private let phone: TemporaryCopy
  private var service: PlayedService { phone.service }

  init() throws { phone = try TemporaryCopy() }

  @Test("an update puts clips and voice packs into their places, and a second update fetches nothing")
  func arrives() async throws {
    service.addClip(clip(1), [1, 2, 3])
    try service.addPack("warm", ["0001.wav": [4], "0002.wav": [5, 6]])
    let update = try await phone.update()
    #expect(update.changedClips == [clip(1)])
    #expect(update.changedPacks == ["warm"])
    #expect(update.anchor == "2")
    #expect(update.fetchedFiles == 4)
    #expect(phone.clips == [clip(1): [1, 2, 3]])
    #expect(phone.pack("warm")["0001.wav"] == [4])
    #expect(phone.pack("warm")["0002.wav"] == [5, 6])
    #expect(phone.pack("warm").keys.sorted() == ["0001.wav", "0002.wav", "manifest.json"])
    #expect(phone.packs == ["warm"])
    #expect(phone.left.isEmpty)
    service.reset()
    let second = try await phone.update()
    #expect(second == LibraryUpdate(anchor: "2"))
    #expect(service.requests == ["changes after=2&limit=1000"])
    #expect(phone.copy().manifest().clips.keys.sorted() == [clip(1)])
  }

  @Test("an update reports changes only if it put a file into place or removed one")
  func hasChanges() async throws {
    #expect(try await !phone.update().hasChanges)
    service.addClip(clip(1), [1])
    #expect(try await phone.update().hasChanges)
    #expect(try await !phone.update().hasChanges)
    service.remove("clip", clip(1))
    #expect(try await phone.update().hasChanges)
    try service.addPack("warm", ["a.wav": [1]])
    #expect(try await phone.update().hasChanges)
    #expect(try await !phone.update().hasChanges)
  }

  @Test("an update reads all pages of the service's list")
  func pages() async throws {
    for number in 1...7 { service.addClip(clip(number), [UInt8(number)]) }
    service.state.withLock { $0.pageSize = 3 }
    #expect(try await phone.update().changedClips.count == 7)
    #expect(service.requests.filter { $0.hasPrefix("changes") }.count == 3)
  }

  @Test("only the changed clips of a changed pack are fetched, and no old clip stays in the pack")
  func changedPack() async throws {
    try service.addPack("warm", ["a.wav": [1], "b.wav": [2], "c.wav": [3]])
    try await phone.update()
    service.reset()
    try service.addPack("warm", ["a.wav": [1], "b.wav": [9], "d.wav": [3]])
    let update = try await phone.update()
    #expect(update.fetchedFiles == 2)  // the manifest and one clip
    #expect(update.changedPacks == ["warm"])
    let files = phone.pack("warm")
    #expect(files.keys.sorted() == ["a.wav", "b.wav", "d.wav", "manifest.json"])
    #expect(files["b.wav"] == [9])
    #expect(files["d.wav"] == [3])
    #expect(phone.packs == ["warm"])
  }

  @Test("a clip that another pack on the phone has is not fetched, even if that pack is removed in the same update")
  func renamedPack() async throws {
    try service.addPack("warm", ["a.wav": [1], "b.wav": [2]])
    try await phone.update()
    service.remove("pack", "warm")
    try service.addPack("warmer", ["a.wav": [2], "b.wav": [1]])
    let update = try await phone.update()
    #expect(update.fetchedFiles == 1)  // the manifest
    #expect(phone.packs == ["warmer"])
    #expect(phone.pack("warmer")["a.wav"] == [2])
  }

  @Test("files that were fetched do not accumulate while another file stays damaged")
  func damagedForever() async throws {
    let broken = service.addClip(clip(9), [9])
    service.state.withLock { $0.lies[broken] = [8] }
    for number in 1...3 {
      try service.addPack("warm", ["a.wav": [UInt8(number)], "b.wav": [UInt8(number), 2]])
      service.addClip(clip(number), [UInt8(number)])
      #expect(await phone.failure()?.code == .fileDamaged)
      #expect(phone.left.isEmpty)
    }
    #expect(phone.pack("warm")["a.wav"] == [3])
  }

  @Test("a damaged clip of the old version of a pack is fetched again for the new version")
  func damagedClip() async throws {
    try service.addPack("warm", ["a.wav": [1], "b.wav": [2]])
    try await phone.update()
    try Data([7]).write(to: phone.places.pack("warm").appending(path: "a.wav"))
    try service.addPack("warm", ["a.wav": [1], "b.wav": [3]])
    try await phone.update()
    #expect(phone.pack("warm")["a.wav"] == [1])
  }

  @Test("a reader of the old version of a pack can read it to the end after the update")
  func openPack() async throws {
    try service.addPack("warm", ["a.wav": [1, 1, 1]])
    try await phone.update()
    let reader = try FileHandle(forReadingFrom: phone.places.pack("warm").appending(path: "a.wav"))
    defer { try? reader.close() }
    try service.addPack("warm", ["a.wav": [2]])
    try await phone.update()
    #expect(phone.pack("warm")["a.wav"] == [2])
    #expect(try reader.readToEnd() == Data([1, 1, 1]))
  }

  @Test("clips and packs that the service removed are removed from the phone, and other files stay")
  func removed() async throws {
    service.addClip(clip(1), [1])
    service.addClip(clip(2), [2])
    try service.addPack("warm", ["a.wav": [3]])
    try await phone.update()
    _ = try SoundLibrary(container: phone.container).publish([9], as: "cash.wav")
    service.remove("clip", clip(1))
    service.remove("clip", clip(9))
    service.remove("pack", "warm")
    let update = try await phone.update()
    #expect(update.removedClips == [clip(1)])
    #expect(update.removedPacks == ["warm"])
    #expect(phone.clips.keys.sorted() == [clip(2), "cash.wav"])
    #expect(phone.packs.isEmpty)
  }

  @Test("when the anchor has expired, everything is listed again, and only missing files are fetched")
  func expiredAnchor() async throws {
    service.addClip(clip(1), [1])
    service.addClip(clip(2), [2])
    try service.addPack("warm", ["a.wav": [3]])
    try service.addPack("old", ["a.wav": [4]])
    try await phone.update()
    service.remove("clip", clip(1))
    service.remove("pack", "old")
    service.addClip(clip(3), [5])
    service.state.withLock { $0.firstAnchor = 7 }
    service.reset()
    let update = try await phone.update()
    #expect(update.changedClips == [clip(3)])
    #expect(update.changedPacks.isEmpty)
    #expect(update.removedClips == [clip(1)])
    #expect(update.removedPacks == ["old"])
    #expect(update.anchor == "7")
    #expect(service.requests.prefix(2) == ["changes after=4&limit=1000", "changes limit=1000"])
    #expect(service.fetched.count == 1)
    #expect(phone.packs == ["warm"])
  }

  @Test(
    "an update without a valid manifest lists everything, and fetches no file that the phone already has",
    arguments: [true, false])
  func lostManifest(isDamaged: Bool) async throws {
    service.addClip(clip(1), [1])
    try service.addPack("warm", ["a.wav": [3]])
    try service.addPack("old", ["a.wav": [4]])
    try await phone.update()
    service.remove("pack", "old")
    if isDamaged {
      try Data(#"{"format":2}"#.utf8).write(to: phone.places.manifest)
    } else {
      try FileManager.default.removeItem(at: phone.places.manifest)
    }
    let update = try await phone.update()
    #expect(update.fetchedFiles == 0)
    #expect(update.removedPacks == ["old"])
    #expect(phone.packs == ["warm"])
  }

  @Test("an update keeps the newest clips that fit into the budget")
  func budget() async throws {
    for number in 1...4 { service.addClip(clip(number), [UInt8](repeating: UInt8(number), count: 100)) }
    #expect(try await phone.update(budget: 250).changedClips == [clip(4), clip(3)])
    service.addClip(clip(5), [UInt8](repeating: 5, count: 100))
    let update = try await phone.update(budget: 250)
    #expect(update.removedClips == [clip(3)])
    #expect(phone.clips.keys.sorted() == [clip(4), clip(5)])
  }

  @Test(
    "names that would lead out of the folder are refused, and all other files arrive",
    arguments: ["../x", "../../x.wav", ".x.wav"])
  func names(_ name: String) async throws {
    service.addClip(name, [1])
    let digest = service.add([2])
    service.append(PlayedService.Line(kind: "pack", name: name, change: "added", sha256: digest, bytes: 1))
    service.append(PlayedService.Line(kind: "film", name: name, change: "added", sha256: digest, bytes: 1))
    service.addClip(clip(1), [3])
    let update = try await phone.update()
    #expect(update.refused == 2)
    #expect(phone.clips.keys.sorted() == [clip(1)])
    #expect(phone.packs.isEmpty)
    #expect(service.fetched.count == 1)
    #expect(LibraryPlaces.names(in: phone.root) == ["group.crier"])
    #expect(LibraryPlaces.names(in: phone.container.directory) == ["Library"])
  }

  @Test(
    "a pack is refused if its manifest names a file outside its folder, the manifest itself, or an invalid digest",
    arguments: [
      ("../x.wav", String(repeating: "0", count: 64)), ("manifest.json", String(repeating: "0", count: 64)),
      ("a.wav", "../../x"), ("", String(repeating: "0", count: 64)),
    ])
  func hostileManifest(_ name: String, _ digest: String) async throws {
    var manifest = PackManifest(id: "warm", locale: "en-US", speaker: "Ada", licence: "CC0-1.0")
    manifest.clips[name] = PackManifest.Clip(text: "word", sha256: digest)
    try service.add(manifest)
    service.addClip(clip(1), [1])
    let error = await phone.failure()
    #expect(error?.code == .fileDamaged)
    #expect(phone.packs.isEmpty)
    #expect(phone.clips.keys.sorted() == [clip(1)])
  }

  @Test("a manifest is refused if it is another pack's or is not valid")
  func otherManifest() async throws {
    let manifest = PackManifest(id: "cold", locale: "en-US", speaker: "Ada", licence: "CC0-1.0")
    let json = [UInt8](try manifest.json)
    for bytes in [json, [0x7B]] {
      let digest = service.add(bytes)
      service.append(
        PlayedService.Line(kind: "pack", name: "warm", change: "added", sha256: digest, bytes: bytes.count))
      #expect(await phone.failure()?.code == .fileDamaged)
    }
    #expect(phone.packs.isEmpty)
  }

  @Test("a file with a wrong digest is refused; the old file and the anchor stay, and the next update tries again")
  func lyingDigest() async throws {
    try service.addPack("warm", ["a.wav": [1]])
    service.addClip(clip(1), [1])
    try await phone.update()
    try service.addPack("warm", ["a.wav": [2]])
    let changed = service.addClip(clip(1), [3])
    let added = service.addClip(clip(2), [4])
    service.state.withLock { $0.lies[changed] = [9] }
    let error = await phone.failure()
    #expect(error?.code == .fileDamaged)
    #expect(error?.service?.code == .digestMismatch)
    #expect(phone.clips == [clip(1): [1], clip(2): [4]])
    #expect(phone.pack("warm")["a.wav"] == [2])
    #expect(phone.copy().manifest().anchor == "2")
    service.state.withLock { $0.lies = [:] }
    service.reset()
    let update = try await phone.update()
    #expect(service.fetched == [changed])
    #expect(!service.fetched.contains(added))
    #expect(update.changedClips == [clip(1)])
    #expect(phone.clips[clip(1)] == [3])
  }

  @Test("a file that the service no longer has is skipped until its next change, and the old file stays")
  func missing() async throws {
    try service.addPack("warm", ["a.wav": [1]])
    try await phone.update()
    try service.addPack("warm", ["a.wav": [2]])
    let digest = service.addClip(clip(1), [3])
    service.state.withLock { state in
      state.files[digest] = nil
      state.files[IncrementalSHA256.hexadecimalDigest(of: [2])] = nil
    }
    let update = try await phone.update()
    #expect(update.missing == 2)
    #expect(update.changedPacks.isEmpty)
    #expect(phone.pack("warm")["a.wav"] == [1])
    #expect(phone.clips.isEmpty)
    #expect(phone.copy().manifest().clips.isEmpty)
    // The old pack is still known, so it is removed with its next change.
    service.remove("pack", "warm")
    #expect(try await phone.update().removedPacks == ["warm"])
  }

  @Test("a second update is busy while the first one puts a file into place")
  func busy() async throws {
    service.addClip(clip(1), [1])
    try FileManager.default.createDirectory(at: phone.places.folder, withIntermediateDirectories: true)
    let lock = try #require(try LockedFile(phone.places.lock, patience: 0))
    #expect(try await phone.copy().update() == .busy)
    #expect(service.requests.isEmpty)
    withExtendedLifetime(lock) {}
  }

  @Test("the lock is free after an update, even if the update failed")
  func lockIsFree() async throws {
    service.reset(failing: 1)
    #expect(await phone.failure()?.code == .serviceFailed)
    #expect(try LockedFile.look(at: phone.places.lock, count: 0)?.isLocked == false)
    try await phone.update()
    #expect(try LockedFile.look(at: phone.places.lock, count: 0)?.isLocked == false)
  }

  @Test("an endless list of empty pages ends the update with an error")
  func endlessPages() async throws {
    service.addClip(clip(1), [1])
    service.state.withLock { $0.pageSize = 0 }
    #expect(await phone.failure()?.service?.code == .unreadableAnswer)
  }

  @Test("a file in place of the copy's folder is a disk error with the system's error number")
  func noFolder() async throws {
    let library = phone.container.directory.appending(path: "Library")
    try FileManager.default.createDirectory(at: library, withIntermediateDirectories: true)
    try Data().write(to: library.appending(path: "Crier"))
    let error = await phone.failure()
    #expect(error?.code == .diskFailure)
    #expect(error?.systemError != nil)
    #expect(error?.description.contains("Not a directory") == true)
  }

  @Test("every error of an update names the attempt, the cause and the remedy")
  func texts() {
    for code in LibraryCopyError.Code.allCases {
      let text = LibraryCopyError(code, systemError: 28).description
      #expect(text.hasPrefix("Updating the copy of the library failed: "))
      #expect(text.hasSuffix("."))
    }
    #expect(LibraryCopyError(SystemError(number: 28)).code == .diskFull)
  }
}
