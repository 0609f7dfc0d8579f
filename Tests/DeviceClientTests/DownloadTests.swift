// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import SoundDownloads
import Testing

@testable import DeviceClient

@Suite("Files of the library")
struct DownloadTests {
  private static let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  private static let digest = IncrementalSHA256.hexadecimalDigest(of: bytes)

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func download(
    _ answer: @escaping ScriptedService.Script, byteCount: Int? = 1_000, isOver: Bool = false
  ) async -> DeviceClientError? {
    let client = DeviceClient(ScriptedService(answer), clock: TestClock(isOver: isOver))
    return await failure { () throws(DeviceClientError) in
      try await client.download(sha256: Self.digest, byteCount: byteCount, to: folder.file)
    }
  }

  @Test("a file that arrives in pieces is checked by its digest, and gets its final name only at the end")
  func arrives() async throws {
    let service = ScriptedService { [folder] _, _ in
      #expect(folder.names == ["file.part"])
      return SoundAnswer(
        200, ["Content-Length": "1000"],
        pieces: [Array(Self.bytes[..<300]), [], Array(Self.bytes[300..<301]), Array(Self.bytes[301...])])
    }
    try await DeviceClient(service).download(sha256: Self.digest, byteCount: 1_000, to: folder.file)
    #expect(try Data(contentsOf: folder.file) == Data(Self.bytes))
    #expect(folder.names == ["file"])
    let request = try #require(service.requests.first)
    #expect(request.url.absoluteString == "https://crier.example/v1/library/files/\(Self.digest)")
    #expect(request.method == "GET")
    #expect(request.mostBytes == 1_000)
    #expect(request.fields["Authorization"] == "Bearer \(testKey)")
  }

  @Test("a clip of the library can be fetched by its name")
  func clip() async throws {
    let service = ScriptedService { _, _ in SoundAnswer(pieces: [Self.bytes]) }
    try await DeviceClient(service).download(clip: "a b.wav", sha256: Self.digest, byteCount: nil, to: folder.file)
    #expect(service.requests.first?.url.absoluteString == "https://crier.example/v1/clips/a%20b.wav")
    #expect(service.requests.first?.mostBytes == DeviceClient.maximumFileBytes)
    #expect(folder.names == ["file"])
  }

  @Test("a downloaded file with a wrong digest is refused, and the existing file stays")
  func lyingDigest() async throws {
    try Data([1]).write(to: folder.file)
    let error = await download { _, _ in SoundAnswer(pieces: [[UInt8](repeating: 1, count: 1_000)]) }
    #expect(error?.code == .digestMismatch)
    #expect(try Data(contentsOf: folder.file) == Data([1]))
    #expect(folder.names == ["file"])
  }

  @Test("a downloaded file replaces an existing one")
  func replaced() async throws {
    try Data([1]).write(to: folder.file)
    #expect(await download { _, _ in SoundAnswer(pieces: [Self.bytes]) } == nil)
    #expect(try Data(contentsOf: folder.file) == Data(Self.bytes))
  }

  @Test("a download whose body is too short, too long, broken or endless leaves no file")
  func badBodies() async {
    let short = await download { _, _ in SoundAnswer(pieces: [Array(Self.bytes.dropLast())]) }
    #expect(short?.code == .unreachable)
    let long = await download { _, _ in SoundAnswer(pieces: [Self.bytes, [0]]) }
    #expect(long?.code == .tooLarge)
    let declared = await download { _, _ in SoundAnswer(200, ["Content-Length": "1001"], pieces: [Self.bytes]) }
    #expect(declared?.code == .tooLarge)
    let fewer = await download { _, _ in SoundAnswer(200, ["Content-Length": "999"], pieces: [Self.bytes]) }
    #expect(fewer?.code == .digestMismatch)
    let broken = await download { _, _ in SoundAnswer(pieces: [[1]], breaksWith: .connectionLost) }
    #expect(broken?.code == .unreachable)
    let endless = await download(
      { _, _ in
        SoundAnswer(status: 200, fields: [:], body: AsyncThrowingStream { [UInt8](repeating: 0, count: 10_000) })
      }, byteCount: 100_000)
    #expect(endless?.code == .tooLarge)
    let unknown = await download(
      { _, _ in SoundAnswer(200, ["Content-Length": "\(DeviceClient.maximumFileBytes + 1)"], pieces: [[1]]) },
      byteCount: nil)
    #expect(unknown?.code == .tooLarge)
    let missing = await download { _, _ in SoundAnswer(404, #"{"code":"not_found"}"#) }
    #expect(missing?.code == .notFound)
    #expect(folder.names.isEmpty)
  }

  @Test("a download that takes too long fails and leaves no file under the final name")
  func tookTooLong() async {
    let error = await download({ _, _ in SoundAnswer.stalled([Self.bytes]) }, isOver: true)
    #expect(error?.code == .tookTooLong)
    #expect(!FileManager.default.fileExists(atPath: folder.file.path))
  }

  @Test("a partial file that a killed process left is replaced by the next download")
  func leftBehind() async throws {
    try Data([1, 2, 3]).write(to: folder.url.appending(path: "file.part"))
    #expect(await download { _, _ in SoundAnswer(pieces: [Self.bytes]) } == nil)
    #expect(folder.names == ["file"])
  }

  @Test("a missing folder for a download is a disk error")
  func noFolder() async {
    let client = DeviceClient(ScriptedService { _, _ in SoundAnswer(pieces: [Self.bytes]) })
    let error = await failure { () throws(DeviceClientError) in
      try await client.download(
        sha256: Self.digest, byteCount: nil, to: folder.url.appending(path: "missing/file"))
    }
    #expect(error?.code == .diskFailure)
    #expect(error?.systemError == 2)
  }

  @Test("a text that is not a digest is refused without a request", arguments: ["", "..", "0A", "../../v1/devices"])
  func noDigest(_ digest: String) async {
    let service = ScriptedService { _, _ in SoundAnswer(pieces: []) }
    let error = await failure { () throws(DeviceClientError) in
      try await DeviceClient(service).download(sha256: digest, byteCount: nil, to: folder.file)
    }
    #expect(error?.code == .invalidURL)
    #expect(service.requests.isEmpty)
  }
}
