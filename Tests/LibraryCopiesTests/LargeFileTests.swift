// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import SoundLibrary
import Testing

@testable import LibraryCopies

@Suite("Large files in the background")
struct LargeFileTests {
  /// A client that only notes the files that it is asked for.
  private final class Background: LargeFileFetching {
    let requests = Locked<[LargeFileRequest]>([])
    func begin(_ request: LargeFileRequest) { requests.withLock { $0.append(request) } }
    var digests: [String] { requests.withLock { $0.map(\.sha256) } }
  }

  private let phone: TemporaryCopy
  private let background = Background()
  private let bytes = [UInt8](repeating: 1, count: AskedFiles.smallestBytes)
  private let large: String
  private var service: PlayedService { phone.service }
  private var arrivals: LibraryArrivals { LibraryArrivals(container: phone.container) }

  init() throws {
    phone = try TemporaryCopy()
    large = phone.service.addClip(clip(1), bytes)
    service.addClip(clip(2), [2])
  }

  private func update() async throws -> LibraryUpdate {
    guard case .updated(let update) = try await phone.copy(largeFiles: background).update() else {
      throw TemporaryCopy.Busy()
    }
    return update
  }

  /// A file as the system has it before it removes it.
  private func arrived(_ bytes: [UInt8]) throws -> URL {
    let file = phone.root.appending(path: UUID().uuidString)
    try Data(bytes).write(to: file)
    return file
  }

  private var asked: [String] { LibraryPlaces.names(in: phone.places.asked) }

  @Test("a large sound is requested once in the background, and all other sounds arrive with the update")
  func asksOnce() async throws {
    let update = try await update()
    #expect(update.awaited == 1)
    #expect(update.changedClips == [clip(2)])
    #expect(update.anchor == "")
    #expect(!service.fetched.contains(large))
    let second = try await self.update()
    #expect(second.awaited == 1 && !second.hasChanges)
    #expect(background.digests == [large])
    #expect(phone.clips.keys.sorted() == [clip(2)])
    let request = try #require(background.requests.withLock { $0.first })
    #expect(request.url.absoluteString == "https://crier.example/v1/library/files/\(large)")
    #expect(request.fields["Authorization"] == "Bearer crier_key")
    #expect(request.byteCount == bytes.count)
    #expect(!"\(request)".contains("crier_key"))
    var dump = ""
    Swift.dump(request, to: &dump)
    #expect(!dump.contains("crier_key"))
  }

  @Test("a large file that arrives while no update runs is put into place by the next update")
  func arrives() async throws {
    _ = try await update()
    let file = try arrived(bytes)
    #expect(arrivals.receive(file, sha256: large, status: 200))
    #expect(phone.clips[clip(1)] == nil)
    let update = try await update()
    #expect(update.changedClips == [clip(1)] && update.awaited == 0 && update.fetchedFiles == 0)
    #expect(update.anchor == "2")
    #expect(phone.clips[clip(1)] == bytes)
    #expect(phone.left.isEmpty && asked.isEmpty)
    #expect(background.digests == [large])
  }

  @Test("a large file that arrives during an update is not removed by the update")
  func arrivesDuringUpdate() async throws {
    _ = try await update()
    let (arrivals, file, large) = (arrivals, try arrived(bytes), large)
    service.addClip(clip(3), [3])
    service.whenCalled.withLock { hook in
      hook = { _ in _ = arrivals.receive(file, sha256: large, status: 200) }
    }
    _ = try await update()
    _ = try await update()
    #expect(phone.clips[clip(1)] == bytes)
    #expect(!service.fetched.contains(large))
  }

  @Test(
    "a large file with a wrong digest, or a status other than 200, is refused and fetched by the next update itself",
    arguments: [(200, 9), (404, 1), (206, 1), (0, 1)])
  func damaged(status: Int, byte: UInt8) async throws {
    _ = try await update()
    let file = try arrived([UInt8](repeating: byte, count: bytes.count))
    #expect(!arrivals.receive(file, sha256: large, status: status))
    #expect(phone.left.isEmpty)
    let update = try await update()
    #expect(update.changedClips == [clip(1)] && update.awaited == 0)
    #expect(service.fetched.contains(large))
    #expect(background.digests == [large])
    #expect(asked.isEmpty)
  }

  @Test("a missing file, an empty file, a folder, and a file above 16 MiB are refused as large files")
  func notAFile() async throws {
    let files = [
      phone.root.appending(path: "missing"), try arrived([]), phone.container.directory,
      try arrived([UInt8](repeating: 1, count: SoundLibrary.maximumClipBytes + 1)),
    ]
    for file in files {
      _ = try await update()
      #expect(!arrivals.receive(file, sha256: large, status: 200))
      arrivals.fail(sha256: large, isCancelled: true)
      AskedFiles(places: phone.places).forget(large)
    }
    #expect(phone.left.isEmpty)
  }

  @Test("a downloaded file that was not requested, or whose name is not a digest, stays in its place")
  func notAsked() async throws {
    _ = try await update()
    for name in ["../library.json", "", String(repeating: "0", count: 64), large.uppercased()] {
      let file = try arrived(bytes)
      #expect(!arrivals.receive(file, sha256: name, status: 200))
      arrivals.fail(sha256: name, isCancelled: true)
      arrivals.fail(sha256: name, isCancelled: false)
      #expect(FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
    }
    #expect(phone.left.isEmpty && asked == [large])
  }

  @Test(
    "a cancelled download is requested again, and the next update itself fetches the file of a failed download",
    arguments: [true, false])
  func ended(isCancelled: Bool) async throws {
    _ = try await update()
    arrivals.fail(sha256: large, isCancelled: isCancelled)
    let update = try await update()
    #expect(update.awaited == (isCancelled ? 1 : 0))
    #expect(background.digests == (isCancelled ? [large, large] : [large]))
    #expect(service.fetched.contains(large) == !isCancelled)
  }

  @Test("if a large file is still damaged when the update fetches it itself, the update fails")
  func staysDamaged() async throws {
    _ = try await update()
    arrivals.fail(sha256: large, isCancelled: false)
    service.state.withLock { $0.lies[large] = [UInt8](repeating: 9, count: bytes.count) }
    let error = await #expect(throws: LibraryCopyError.self) { try await update() }
    #expect(error?.code == .fileDamaged)
  }

  @Test("a large file that the service removes before it arrives is no longer awaited, and is discarded on arrival")
  func removed() async throws {
    _ = try await update()
    service.remove("clip", clip(1))
    let update = try await update()
    #expect(update.awaited == 0 && update.anchor == "3")
    #expect(asked.isEmpty)
    #expect(!arrivals.receive(try arrived(bytes), sha256: large, status: 200))
    #expect(phone.left.isEmpty)
  }

  @Test("the old version of a file stays until the large new version has arrived")
  func changed() async throws {
    service.addTone("chime.wav", [1])
    try await phone.update()
    let digest = service.addTone("chime.wav", bytes + [1])
    #expect(try await update().awaited == 1)
    #expect(phone.clips["chime.wav"] == [1])
    #expect(arrivals.receive(try arrived(bytes + [1]), sha256: digest, status: 200))
    #expect(try await update().changedTones == ["chime.wav"])
    #expect(phone.clips["chime.wav"] == bytes + [1])
  }

  @Test("a large file that has not arrived within a day is requested again")
  func patience() async throws {
    _ = try await update()
    let old = phone.now().addingTimeInterval(-AskedFiles.patience - 60)
    try FileManager.default.setAttributes(
      [.modificationDate: old], ofItemAtPath: phone.places.asked.appending(path: large).path(percentEncoded: false))
    _ = try await update()
    #expect(background.digests == [large, large])
  }

  @Test("at most 50 large files at a time are requested in the background, and small files are always fetched at once")
  func most() throws {
    try FileManager.default.createDirectory(at: phone.places.asked, withIntermediateDirectories: true)
    let files = AskedFiles(places: phone.places)
    let digests = (1...51).map { IncrementalSHA256.hexadecimalDigest(of: "\($0)".utf8) }
    let now = Date()
    #expect(files.way(of: digests[0], AskedFiles.smallestBytes - 1, at: now) == .atOnce)
    let ways = digests.map { files.way(of: $0, AskedFiles.smallestBytes, at: now) }
    #expect(ways == Array(repeating: .asking, count: 50) + [.atOnce])
    #expect(files.way(of: digests[7], AskedFiles.smallestBytes, at: now) == .awaited)
  }

  @Test("without a client for large files, the update itself fetches each file")
  func withoutBackground() async throws {
    try await phone.update()
    #expect(phone.clips[clip(1)] == bytes)
    #expect(asked.isEmpty)
  }
}
