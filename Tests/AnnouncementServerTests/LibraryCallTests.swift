// SPDX-License-Identifier: Apache-2.0

import Crypto
import FileSystem
import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import SoundLibrary
import SoundOutputTestSupport
import TestSupport
import Testing
import TextFormats
import VoicePackMaking
import VoicePacks

@testable import AnnouncementServer

/// Writes a voice pack with a clip for each word, in place of an earlier one.
func writePack(_ id: String, in voices: URL, words: [String] = ["word"]) throws {
  try? FileManager.default.removeItem(at: voices.appending(path: id))
  let clips = words.enumerated().map { number, word in
    PackClip(
      tokens: [word], position: .plain, text: word,
      waveform: Tone.sine(Double(300 + 40 * number), milliseconds: 300, rate: 22_050))
  }
  try PackWriter(directory: voices).write(
    PackFacts(id: id, locale: "en-US", speaker: "test", licence: "CC0-1.0"), clips: clips)
}

@Suite("The library through the service", .timeLimit(.minutes(5)))
struct LibraryCallTests {
  private let service: TestService
  private let backend: TestClient
  private let voices: URL

  init() async throws {
    let folder = try TemporaryFolder()
    let voices = folder.url.appending(path: "Voices", directoryHint: .isDirectory)
    self.voices = voices
    service = try TestService(in: folder) {
      $0.packs = [voices]
      $0.settings.groups = ["group.tills"]
    }
    backend = try await service.client([.announce, .read])
  }

  private func clip(
    _ id: String, _ amount: String = "1.00", _ more: String = "", by client: TestClient? = nil
  ) async throws -> TestAnswer {
    let answer = try await (client ?? backend).post(payment(id, amount, more))
    #expect(answer.status == 201, "\(answer.text)")
    return answer
  }

  private func names(_ answer: TestAnswer) throws -> [String] {
    try (answer.value("changes") as? [[String: Any]] ?? []).map {
      "\($0["change"] as? String ?? "") \($0["name"] as? String ?? "")"
    }
  }

  private func after(_ answer: TestAnswer) throws -> String {
    "/v1/library/changes?after=\(try answer.string("anchor").orThrow("an anchor"))"
  }

  // MARK: Changes

  @Test("announced clips and voice packs are in the library of the account and its group, with digest and size")
  func listed() async throws {
    try writePack("shop", in: voices)
    let first = try await clip("p1")
    await service.server.packWatch.look()
    let name = try first.string("clip.name").orThrow("a name")
    let phone = try await service.phone()
    for client in [phone, backend] {
      let answer = try await client.get("/v1/library/changes")
      #expect(answer.status == 200 && answer.header("Cache-Control") == "no-store", "\(answer.text)")
      #expect(try names(answer) == ["added \(name)", "added shop"])
      #expect(try answer.string("changes.0.kind") == "clip" && answer.string("changes.1.kind") == "pack")
      #expect(try answer.string("changes.0.sha256") == first.string("clip.sha256"))
      #expect(try answer.number("changes.0.bytes") == first.number("clip.bytes"))
      #expect(try answer.string("changes.0.changed_at") != nil && answer.value("next") == nil)
      _ = try await clip("again \(client.key?.key.id ?? "")")
      #expect(try await names(client.get(after(answer))).isEmpty, "the same clip is no change")
    }
    let anchor = try after(await phone.get("/v1/library/changes"))
    let second = try await clip("p2", "2.00").string("clip.name").orThrow("a name")
    try writePack("shop", in: voices, words: ["word", "other"])
    await service.server.packWatch.look()
    #expect(try await names(phone.get(anchor)) == ["added \(second)", "changed shop"])
    try FileManager.default.removeItem(at: voices.appending(path: "shop"))
    await service.server.packWatch.look()
    let gone = try await phone.get(anchor)
    #expect(try names(gone) == ["added \(second)", "removed shop"])
    #expect(try gone.value("changes.1.sha256") == nil && gone.value("changes.1.bytes") == nil)
  }

  @Test("each page of the library has the field 'next', except the last page, which has the field 'anchor'")
  func pages() async throws {
    for number in 1...5 { _ = try await clip("p\(number)", "\(number).00") }
    var target = "/v1/library/changes?limit=2"
    var found: [String] = []
    for count in [2, 2, 1] {
      let answer = try await backend.get(target)
      #expect(try names(answer).count == count)
      found += try names(answer)
      let next = try answer.string("next")
      #expect(try (next == nil) == (count == 1) && (answer.string("anchor") == nil) == (count == 2))
      target = "/v1/library/changes?limit=2&after=\(next ?? "")"
    }
    #expect(Set(found).count == 5)
  }

  @Test("a clip that a call, pruning or a person removes is listed as removed, and can be made again")
  func removed() async throws {
    let client = try await service.client()
    let names = [
      try await clip("p1", "1.00"), try await clip("p2", "2.00"), try await clip("p3", "3.00"),
    ].map { (try? $0.string("clip.name")) ?? "" }
    let anchor = try after(await client.get("/v1/library/changes"))
    #expect(try await client.send(.delete, "/v1/announcements/p1").status == 200)
    #expect(try await self.names(client.get(anchor)) == ["removed \(names[0])"])
    let folder = service.folder.url.appending(path: "containers/group.crier/Library/Sounds")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -40 * 86_400)],
      ofItemAtPath: folder.appending(path: names[1]).path)
    await service.server.pruneClips()
    #expect(try await self.names(client.get(anchor)) == names.prefix(2).map { "removed \($0)" })
    try FileManager.default.removeItem(at: folder.appending(path: names[2]))
    await service.server.library.settle()
    #expect(try await self.names(client.get(anchor)) == names.map { "removed \($0)" })
    _ = try await clip("p4", "1.00")
    #expect(try await self.names(client.get(anchor)).last == "added \(names[0])")
    await service.server.library.settle()
    #expect(try await self.names(client.get("/v1/library/changes")) == ["added \(names[0])"])
  }

  @Test("the clips of a batch are in the library, also if the service ended before it recorded them")
  func batch() async throws {
    let client = try await service.client()
    let place = try await client.send(
      .post, "/v1/batches?group=group.tills", headers: ["Content-Type": "text/csv"],
      body: Data("id,amount,currency\na,1.00,USD\nb,2.00,USD\n".utf8)
    ).header("Location").orThrow("a place")
    service.startBatches()
    try await eventually { try await client.get(place).string("state") == "done" }
    let listed = try await client.get("/v1/library/changes?group=group.tills")
    #expect(try Set(names(listed)) == Set(service.clips("group.tills").map { "added \($0)" }))
    let id = try place.split(separator: "/").last.map(String.init).orThrow("an id")
    let folder = service.folder.url.appending(path: "batches", directoryHint: .isDirectory)
    let files = await BatchFiles(folder: folder, calls: .system).clips(inResultOf: id, group: "group.tills")
    #expect(files.names == Set(service.clips("group.tills")) && files.files.count == 2)
  }

  @Test("a request to the library with an invalid value, an expired anchor or no access is refused")
  func refused() async throws {
    _ = try await clip("p1")
    let phone = try await service.phone()
    for query in [
      "after=1", "after=", "after=1-1-x", "limit=0", "limit=1001", "limit=x", "before=1",
    ] {
      for client in [backend, phone] {
        let answer = try await client.get("/v1/library/changes?\(query)")
        #expect(answer.status == 400 && answer.code == "parameter_invalid", "\(query)")
      }
    }
    let expired = try await backend.get("/v1/library/changes?after=1-1-0123456789abcdef")
    #expect(expired.status == 410 && expired.code == "anchor_expired")
    let group = try await backend.get("/v1/library/changes?group=group.unknown")
    #expect(group.status == 422 && group.code == "option_invalid")
    #expect(try await phone.get("/v1/library/changes?group=group.crier").code == "parameter_invalid")
    let digest = String(repeating: "0", count: 64)
    for client in [try await service.client([.announce, .play]), service.stranger] {
      for target in ["/v1/library/changes", "/v1/library/files/\(digest)"] {
        #expect([401, 403].contains(try await client.get(target).status))
      }
    }
    for name in [digest, "x", "..", String(repeating: "A", count: 64)] {
      #expect(try await backend.get("/v1/library/files/\(name)").code == "not_found")
    }
  }

  // MARK: The accounts of files

  @Test("the key of a device does not see the clips of another account or of another app group")
  func isolation() async throws {
    let kiosk = try await service.client(account: "kiosk")
    let own = try await clip("p1", "1.00")
    let others = [
      try await clip("k1", "99.99", by: kiosk), try await clip("t1", "5.00", #""group":"group.tills""#),
    ]
    let phone = try await service.phone()
    let tills = try await service.phone("till-1", deviceBody(#""group":"group.tills""#, tokens: "{}"))
    #expect(try await names(phone.get("/v1/library/changes")) == ["added \(own.string("clip.name") ?? "")"])
    #expect(try await names(tills.get("/v1/library/changes")) == ["added \(others[1].string("clip.name") ?? "")"])
    #expect(
      try await phone.get("/v1/library/files/\(own.string("clip.sha256") ?? "")").header("Content-Type") == "audio/wav")
    for other in others {
      let answer = try await phone.get("/v1/library/files/\(other.string("clip.sha256") ?? "")")
      #expect(answer.status == 404)
      #expect(try answer.string("detail")?.contains("may have been removed") == true)
    }
    // Both accounts see a clip that belongs to both. An anchor of one account is not valid for the other.
    let shared = try await clip("k2", "1.00", by: kiosk).string("clip.name").orThrow("a name")
    #expect(try await names(kiosk.get("/v1/library/changes")).last == "added \(shared)")
    let anchor = try after(await phone.get("/v1/library/changes"))
    #expect(try await kiosk.get(anchor).code == "anchor_expired")
    #expect(try await tills.get(anchor).code == "anchor_expired")
    // The account's own key chooses the group.
    #expect(try await names(backend.get("/v1/library/changes?group=group.tills")).count == 1)
  }

  @Test("a device cannot move itself into another app group")
  func ownGroup() async throws {
    let phone = try await service.phone()
    let answer = try await phone.put("phone-1", deviceBody(#""group":"group.tills""#))
    #expect(try answer.status == 422 && answer.string("detail")?.hasPrefix("group: ") == true, "\(answer.text)")
    #expect(try await phone.put("phone-1", deviceBody(#""group":"group.crier""#)).status == 200)
    #expect(try await backend.put("phone-1", deviceBody(#""group":"group.tills""#)).status == 200)
    #expect(try await phone.put("phone-1").string("group") == "group.tills")
  }

  @Test("a device fetches any clip of its library by digest, and by name only a clip that was pushed to the device")
  func byDigest() async throws {
    let phone = try await service.phone()
    let clip = LibrarySound(
      name: String(repeating: "c", count: 64) + ".wav", group: "group.crier",
      sha256: SHA256.hash(data: Data("sound".utf8)).hexadecimal, bytes: 5)
    _ = try service.server.clips.library("group.crier").publish([UInt8]("sound".utf8), as: clip.name)
    #expect(try await phone.get("/v1/library/files/\(clip.sha256)").status == 404)
    _ = try await service.ledger.accept(
      answer: NewAnswer(
        account: "shop", key: "k", bodyDigest: Data(count: 32), id: "A", status: 201, report: Data("{}".utf8)),
      playing: nil, pushing: [],
      publishing: [clip])
    #expect(try await phone.get("/v1/clips/\(clip.name)").status == 404)
    #expect(try await phone.get("/v1/library/files/\(clip.sha256)").text == "sound")
  }

  // MARK: Files

  @Test("the manifest of a pack lists the clips of the pack, and each clip can be fetched by its digest")
  func packFiles() async throws {
    try writePack("shop", in: voices, words: ["one", "two"])
    await service.server.packWatch.look()
    let phone = try await service.phone()
    let line = try await phone.get("/v1/library/changes")
    let digest = try line.string("changes.0.sha256").orThrow("a digest")
    let answer = try await phone.get("/v1/library/files/\(digest)")
    #expect(answer.status == 200 && answer.header("Content-Type") == "application/json")
    #expect(answer.header("ETag") == "\"\(digest)\"")
    #expect(answer.header("Cache-Control") == "private, max-age=31536000, immutable")
    #expect(try answer.body.count == line.number("changes.0.bytes"))
    #expect(SHA256.hash(data: answer.body).hexadecimal == digest)
    let manifest = try JSONDecoder().decode(PackManifest.self, from: answer.body)
    #expect(manifest.id == "shop" && manifest.clips.count == 2)
    for clip in manifest.clips.values {
      let file = try await phone.get("/v1/library/files/\(clip.sha256)")
      #expect(file.status == 200 && file.header("Content-Type") == "audio/wav")
      #expect(SHA256.hash(data: file.body).hexadecimal == clip.sha256)
    }
    #expect(try await phone.get("/v1/library/files/\(digest)", ["If-None-Match": "\"\(digest)\""]).status == 304)
    #expect(try await phone.get("/v1/library/files/\(digest)", ["Range": "bytes=0-9"]).status == 206)
    #expect(try await phone.get("/v1/library/files/\(digest)", ["Range": "bytes=99999999-"]).status == 416)
    try FileManager.default.removeItem(at: voices.appending(path: "shop"))
    await service.server.packWatch.look()
    #expect(try await phone.get("/v1/library/files/\(digest)").status == 404)
  }

  // MARK: Enumerators

  @Test("the enumerators of a device can be listed with its own key and with keys that may read, and with no other key")
  func listOfEnumerators() async throws {
    let phone = try await service.phone()
    let other = try await service.phone("phone-2")
    let place = "/v1/devices/phone-1/enumerators"
    #expect(try await phone.get(place).text == #"{"enumerators":[]}"#)
    let first = try await phone.send(.put, "\(place)/root")
    let second = try await phone.send(.put, "\(place)/clips")
    let reader = try await service.client([.read])
    for client in [phone, reader] {
      let list = try await client.get(place)
      #expect(list.status == 200 && list.text == #"{"enumerators":[\#(first.text),\#(second.text)]}"#)
    }
    #expect(try await reader.get("/v1/devices/phone-2/enumerators").text == #"{"enumerators":[]}"#)
    #expect(try await other.get(place).code == "scope_missing")
    #expect(try await service.client([.announce]).get(place).code == "scope_missing")
    #expect(try await service.stranger.get(place).status == 401)
    #expect(try await reader.get("/v1/devices/nobody/enumerators").code == "not_found")
    #expect(try await service.client(account: "kiosk").get(place).code == "not_found")
    #expect(try await reader.get("\(place)?limit=1").code == "parameter_invalid")
    #expect(try await reader.send(.post, place).code == "method_not_allowed")
  }

  @Test("an enumerator is registered under Apple's identifier by its device or the backend, and can be invalidated")
  func enumerators() async throws {
    let phone = try await service.phone()
    _ = try await service.phone("phone-2")
    let place = "/v1/devices/phone-1/enumerators"
    for (name, identifier) in [
      ("root", "NSFileProviderRootContainerItemIdentifier"),
      ("working-set", "NSFileProviderWorkingSetContainerItemIdentifier"), ("%E5%BA%97%2F1", "店/1"),
    ] {
      let new = try await phone.send(.put, "\(place)/\(name)")
      #expect(try new.status == 201 && new.string("container") == identifier, "\(new.text)")
      let again = try await backend.send(.put, "\(place)/\(name)")
      #expect(again.status == 200 && again.body == new.body)
    }
    #expect(try await phone.send(.put, "\(place)/NSFileProviderRootContainerItemIdentifier").status == 200)
    #expect(try await service.ledger.libraryDevice(account: "shop", id: "phone-1") == nil, "it has no token")
    let removed = try await phone.send(.delete, "\(place)/root")
    #expect(removed.text == #"{"container":"NSFileProviderRootContainerItemIdentifier"}"#)
    #expect(try await phone.send(.delete, "\(place)/root").code == "not_found")
    for name in [String(repeating: "x", count: 129), "a%00", "a%0Ab"] {
      #expect(try await phone.send(.put, "\(place)/\(name)").code == "field_invalid")
    }
    #expect(try await phone.send(.put, "/v1/devices/phone-2/enumerators/root").code == "scope_missing")
    #expect(try await phone.send(.delete, "/v1/devices/nobody/enumerators/root").code == "scope_missing")
    #expect(try await backend.send(.put, "/v1/devices/nobody/enumerators/root").code == "not_found")
    let kiosk = try await service.client(account: "kiosk")
    #expect(try await kiosk.send(.put, "\(place)/root").code == "not_found")
    #expect(try await kiosk.send(.delete, "\(place)/working-set").code == "not_found")
    for number in 0..<98 { #expect(try await phone.send(.put, "\(place)/\(number)").status == 201) }
    #expect(try await phone.send(.put, "\(place)/one-more").code == "too_many_enumerators")
  }
}
