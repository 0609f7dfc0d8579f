// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import FileSystem
import Foundation
import SoundDownloads
import Testing
import VoicePacks

@testable import LibraryCopies

/// Updates that end at some request, as in a process that is killed, and are continued by a new copy.
@Suite("Interrupted updates")
struct EndedUpdateTests {
  /// Makes a phone with an old state, and a service with a new one.
  private func prepared() async throws -> TemporaryCopy {
    let phone = try TemporaryCopy()
    let service = phone.service
    try service.addPack("warm", ["a.wav": [1], "b.wav": [2], "c.wav": [3]])
    try service.addPack("old", ["a.wav": [4]])
    for number in 1...3 { service.addClip(clip(number), [10, UInt8(number)]) }
    try await phone.update()
    try service.addPack("warm", ["a.wav": [1], "b.wav": [20], "d.wav": [30]])
    try service.addPack("new", ["x.wav": [5], "y.wav": [30]])
    service.remove("pack", "old")
    service.remove("clip", clip(1))
    service.addClip(clip(2), [11, 2])
    for number in 4...8 { service.addClip(clip(number), [10, UInt8(number)]) }
    return phone
  }

  /// Checks that every pack on the phone is whole by its own manifest, and every clip has one of its contents.
  private func checkWhole(_ phone: TemporaryCopy, _ comment: Comment) throws {
    for id in phone.packs where PackManifest.isID(id) {
      let files = phone.pack(id)
      let manifest = try JSONDecoder().decode(PackManifest.self, from: Data(files["manifest.json"] ?? []))
      #expect(Set(files.keys) == Set(manifest.clips.keys).union(["manifest.json"]), comment)
      for (name, clip) in manifest.clips {
        #expect(IncrementalSHA256.hexadecimalDigest(of: files[name] ?? []) == clip.sha256, comment)
      }
    }
    for (name, bytes) in phone.clips {
      #expect(bytes.count == 2 && name.hasSuffix("\(bytes[1]).wav"), comment)
    }
  }

  private func checkNew(_ phone: TemporaryCopy, _ comment: Comment) {
    #expect(phone.packs == ["new", "warm"], comment)
    #expect(phone.pack("warm")["b.wav"] == [20], comment)
    #expect(phone.pack("warm")["d.wav"] == [30], comment)
    #expect(phone.pack("warm")["c.wav"] == nil, comment)
    #expect(phone.pack("new")["y.wav"] == [30], comment)
    #expect(phone.clips.keys.sorted() == (2...8).map { clip($0) }, comment)
    #expect(phone.clips[clip(2)] == [11, 2], comment)
    #expect(phone.left.isEmpty, comment)
  }

  @Test("an update that was interrupted at any request is continued, and no complete file is fetched twice")
  func everyRequest() async throws {
    var number = 1
    while true {
      let phone = try await prepared()
      let comment: Comment = "request \(number)"
      phone.service.reset(failing: number)
      let error = await phone.failure()
      let before = phone.service.fetched
      try checkWhole(phone, comment)
      phone.service.reset()
      let update = try await phone.update()
      let after = phone.service.fetched
      checkNew(phone, comment)
      #expect(update.anchor == "15", comment)
      // The last request of the first update failed, so its file was not whole.
      let whole = error == nil ? before : Array(before.dropLast())
      #expect(Set(whole).isDisjoint(with: after), comment)
      #expect(Set(after).count == after.count, comment)
      if error == nil { break }
      #expect(error?.service?.code == .unreachable, comment)
      number += 1
    }
    #expect(number == 13)
  }

  @Test("an update that is interrupted repeatedly makes progress each time, and keeps old clips until new clips arrive")
  func oneRequestEach() async throws {
    let phone = try await prepared()
    var updates = 0
    while true {
      // The list and one file.
      phone.service.reset(failing: 3)
      let error = await phone.failure()
      try checkWhole(phone, "update \(updates)")
      updates += 1
      if error == nil { break }
      #expect(phone.clips[clip(1)] == [10, 1], "a clip is removed after the others have arrived")
    }
    checkNew(phone, "at the end")
    #expect(updates == 11)
  }

  @Test("the next update removes the unfinished files of a killed process")
  func leftFolder() async throws {
    let phone = try await prepared()
    let folder = phone.places.unfinishedPack("warm")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data([1]).write(to: folder.appending(path: "stray.wav"))
    let other = phone.places.unfinishedPack("gone")
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
    try Data([1]).write(to: phone.places.fetched.appending(path: "0123.part"))
    try await phone.update()
    checkNew(phone, "at the end")
  }

  @Test("an update that ends just before it writes the manifest is continued without fetching a file")
  func beforeManifest() async throws {
    let phone = try await prepared()
    let before = try Data(contentsOf: phone.places.manifest)
    try await phone.update()
    try before.write(to: phone.places.manifest)
    phone.service.reset()
    let update = try await phone.update()
    #expect(phone.service.fetched.isEmpty)
    #expect(update.anchor == "15")
    checkNew(phone, "at the end")
  }

  @Test("a cancelled update of the library ends with the error code of the cancelled call, and releases the lock")
  func cancelled() async throws {
    let phone = try await prepared()
    let copy = phone.copy()
    let task = Task { () -> LibraryCopyError? in
      withUnsafeCurrentTask { unsafe $0?.cancel() }  // Safe: the task is used within the closure.
      do throws(LibraryCopyError) {
        _ = try await copy.update()
        return nil
      } catch {
        return error
      }
    }
    #expect(await task.value?.service?.code == .cancelled)
    try await phone.update()
    checkNew(phone, "at the end")
  }
}
