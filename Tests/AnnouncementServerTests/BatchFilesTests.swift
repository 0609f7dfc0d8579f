// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Batches on a slow disk", .timeLimit(.minutes(10)))
struct BatchFilesTests {
  private let disk = PausedDisk()
  private let service: TestService

  init() throws {
    service = try TestService { [disk] in $0.batchFileCalls = disk.calls }
  }

  private func place(_ client: TestClient, _ list: String = "text\none\ntwo\nthree\n") async throws -> String {
    try await client.postBatch(list).header("Location").orThrow("a place")
  }

  @Test("while a cancellation waits for the disk, other requests are answered, also requests for the same batch")
  func otherRequests() async throws {
    let client = try await service.client()
    let (place, other) = (try await place(client), try await place(client))
    disk.pause()
    let cancelling = Task { try await client.send(.delete, place) }
    try await disk.isAsked()
    #expect(try await client.get(place).string("state") == "running")
    #expect(try await client.get(other).string("state") == "running")
    #expect(try await client.get("/v1/voices").status == 200)
    let again = Task { try await client.send(.delete, place) }
    disk.resume()
    #expect(try await cancelling.value.string("state") == "cancelled")
    #expect(try await again.value.code == "already_ended")
  }

  @Test("while the list of a new batch waits for the disk, other requests are answered")
  func accepting() async throws {
    let client = try await service.client()
    let other = try await place(client)
    disk.pause()
    let sending = Task { try await place(client, "text\nfour\n") }
    try await disk.isAsked()
    #expect(try await client.get(other).string("state") == "running")
    disk.resume()
    #expect(try await client.get(sending.value).string("state") == "running")
  }

  @Test("while a running batch waits for the disk, other requests are answered, also requests for the batch")
  func running() async throws {
    let client = try await service.client()
    let place = try await place(client)
    disk.pause()
    service.startBatches()
    try await disk.isAsked()
    #expect(try await client.get(place).string("state") == "running")
    #expect(try await client.get("/v1/voices").status == 200)
    disk.resume()
    #expect(try await client.end(of: place).string("state") == "done")
  }

  @Test("a waiting batch does not start while its cancellation waits for the disk")
  func notStarted() async throws {
    let client = try await service.client()
    let (place, next) = (try await place(client), try await place(client, "text\nfour\n"))
    disk.pause()
    let cancelling = Task { try await client.send(.delete, place) }
    try await disk.isAsked()
    service.startBatches()
    disk.resume()
    let taken = try await cancelling.value
    #expect(try taken.string("state") == "cancelled" && taken.number("rows") == 0)
    #expect(try await client.end(of: next).string("state") == "done")
    #expect(service.voice.calls == 1, "the row of the other batch")
  }

  /// Starts a batch whose rows wait for the voice, and pauses the disk.
  private func batchAtItsLastRows() async throws -> (client: TestClient, place: String, work: Task<Void, Never>) {
    let client = try await service.client()
    let place = try await place(client)
    service.voice.hold()
    let work = service.startBatches()
    await service.voice.isAsked()
    disk.pause()
    return (client, place, work)
  }

  /// Returns a batch's state as the next service of the home reads it from the disk.
  private func stateAfterRestart(of place: String, _ client: TestClient) async throws -> String? {
    let next = try TestService(in: service.folder)
    await next.server.batches.load()
    return try await TestClient(server: next.server, key: client.key).get(place).string("state")
  }

  @Test("a batch whose last row ends while its cancellation waits for the disk is cancelled, also after a restart")
  func lastRow() async throws {
    let (client, place, work) = try await batchAtItsLastRows()
    let cancelling = Task { try await client.send(.delete, place) }
    try await disk.isAsked()
    service.voice.release()
    try await eventually { try await client.get(place).number("done") == 3 }
    disk.resume()
    let taken = try await cancelling.value
    #expect(try taken.string("state") == "cancelled" && taken.number("done") == 3)
    #expect(try await client.result(place).count == 3)
    work.cancel()
    await work.value

    #expect(try await stateAfterRestart(of: place, client) == "cancelled")
  }

  @Test("if the cancellation of a batch cannot be written to the disk, the call fails, and the batch runs to its end")
  func failure() async throws {
    let client = try await service.client()
    let place = try await place(client)
    disk.setBroken(true)
    #expect(try await client.send(.delete, place).status >= 500)
    disk.setBroken(false)
    #expect(try await client.get(place).string("state") == "running")
    service.startBatches()
    #expect(try await client.end(of: place).string("state") == "done")
  }

  @Test("a service that stops waits until the end of its batch is on disk")
  func stopping() async throws {
    let (client, place, work) = try await batchAtItsLastRows()
    service.voice.release()
    try await disk.isAsked()
    work.cancel()
    disk.resume()
    await work.value

    #expect(try await stateAfterRestart(of: place, client) == "done")
  }

  @Test("if the removal of an old batch was interrupted, its remaining files are removed later", arguments: [1, 2])
  func interruptedRemoval(removed: Int) async throws {
    let client = try await service.client()
    let place = try await place(client)
    let work = service.startBatches()
    _ = try await client.end(of: place)
    work.cancel()
    await work.value
    let id = try place.split(separator: "/").last.map(String.init).orThrow("an id")
    let folder = service.folder.url.appending(path: "batches")
    // A service that is killed while it removes a batch may have removed one or two of the three files.
    for name in ["\(id).list", "\(id).result.jsonl"].prefix(removed) {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
    let next = try TestService(in: service.folder) { $0.settings.retention = -60 }
    await next.server.batches.load()
    await next.server.batches.prune()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(id) }.isEmpty)
  }

  /// All tasks that prefer it run on one thread, as those of a connection do.
  private final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "crier.tests.one-thread")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test("a slow read of a batch's result from the disk does not block the thread of the connection")
  func slowResult() async throws {
    let client = try await service.client()
    let place = try await place(client)
    service.startBatches()
    _ = try await client.end(of: place)
    let id = try place.split(separator: "/").last.map(String.init).orThrow("an id")
    let file = service.folder.url.appending(path: "batches/\(id).result.jsonl").path(percentEncoded: false)
    let lines = try Data(contentsOf: URL(filePath: file))
    // A pipe has nothing to read until the test writes to it.
    try FileManager.default.removeItem(atPath: file)
    try #require(mkfifo(file, 0o600) == 0)
    let thread = OneThread()
    let result = Task(executorPreference: thread) { try await client.result(place) }
    var pipe: Int32 = -1
    // The pipe can be opened when the service has begun to open it.
    try await eventually {
      pipe = open(file, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      return pipe >= 0
    }
    let other = Task(executorPreference: thread) { try await client.get(place) }
    #expect(try await other.value.string("state") == "done")
    let writer = FileHandle(fileDescriptor: pipe, closeOnDealloc: true)
    try writer.write(contentsOf: lines)
    try writer.close()
    #expect(try await result.value.count == 3)
  }
}
