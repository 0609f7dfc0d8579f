// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HTTPTypes
import ServiceAccess
import SoundFiles
import SoundLibrary
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Tones of the library through the service", .timeLimit(.minutes(5)))
struct LibraryToneCallTests {
  private let service: TestService
  private let backend: TestClient

  init() async throws {
    service = try TestService(in: try TemporaryFolder()) { $0.settings.groups = ["group.tills"] }
    backend = try await service.client([.announce, .read])
  }

  /// Puts a sound into the folder of an app group, and returns its digest.
  @discardableResult
  private func put(_ name: String, seconds: Int = 1, in group: String = "group.crier") throws -> String {
    let bytes = try SoundFiles.encode(
      Tone.sine(440, milliseconds: seconds * 1_000, rate: 22_050), as: SoundFormat(container: .wav, encoding: .pcm16))
    _ = try service.server.clips.library(group).publish(bytes, as: name)
    return SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
  }

  private func lines(_ client: TestClient, _ target: String = "/v1/library/changes") async throws -> [String] {
    let answer = try await client.get(target)
    #expect(answer.status == 200, "\(answer.text)")
    return try (answer.value("changes") as? [[String: Any]] ?? []).map {
      "\($0["change"] as? String ?? "") \($0["kind"] as? String ?? "") \($0["name"] as? String ?? "")"
    }
  }

  @Test("a phone lists and fetches the tones of its app group only")
  func fetched() async throws {
    let digest = try put("chime.wav")
    let other = try put("bell.wav", seconds: 2, in: "group.tills")
    await service.server.library.lookForTones()
    let phone = try await service.phone()
    #expect(try await lines(phone) == ["added tone chime.wav"])
    #expect(try await lines(backend, "/v1/library/changes?group=group.tills") == ["added tone bell.wav"])
    let file = try await phone.get("/v1/library/files/\(digest)")
    #expect(file.status == 200 && file.header("Content-Type") == "audio/wav")
    #expect(file.header("ETag") == "\"\(digest)\"")
    #expect(try await phone.get("/v1/library/files/\(other)").status == 404)
  }

  @Test("a sound that iOS would not play and a clip of another program are not in the library")
  func unplayable() async throws {
    try put("long.wav", seconds: 30)
    try put(String(repeating: "a", count: 64) + ".wav")
    _ = try service.server.clips.library("group.crier").publish(Array("no sound".utf8), as: "text.wav")
    try put("chime.wav")
    await service.server.library.lookForTones()
    #expect(try await lines(backend) == ["added tone chime.wav"])
  }

  @Test("a replaced or removed tone is listed as a change, and the old bytes are not sent")
  func changed() async throws {
    let old = try put("chime.wav")
    try put("bell.wav")
    await service.server.library.lookForTones()
    let anchor = try await backend.get("/v1/library/changes").string("anchor").orThrow("an anchor")
    try put("chime.wav", seconds: 2)
    #expect(try service.server.clips.library("group.crier").remove("bell.wav"))
    #expect(try await backend.get("/v1/library/files/\(old)").status == 404)
    await service.server.library.lookForTones()
    #expect(
      try await lines(backend, "/v1/library/changes?after=\(anchor)")
        == ["changed tone chime.wav", "removed tone bell.wav"])
  }
}
