// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import FileSystem
import Foundation
import SoundDownloads
import Testing

@testable import NotificationAttachments

@Suite("Attachments that are given up", .timeLimit(.minutes(5)))
struct AttachmentCancellationTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// An answer with a first piece, whose body then does not go on. The event happens when more than the first piece is
  /// read, so the first one is stored by then.
  private static func stalled(_ reached: Event) -> SoundAnswer {
    let isFirst = Locked(true)
    let body = AsyncThrowingStream<[UInt8], any Error>(unfolding: {
      let first = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if first { return Sample.file() }
      reached.happen()
      await Event().wait()  // until the task is cancelled
      throw CancellationError()
    })
    return SoundAnswer(status: 200, fields: [:], body: body)
  }

  @Test("a cancelled download of an attachment with a slow body ends at once and leaves no file")
  func slowBody() async {
    let reached = Event()
    let downloader = folder.downloader(ScriptedFetcher { _, _ in Self.stalled(reached) })
    let caller = Task { try await downloader.download(Sample.request) }
    await reached.wait()
    #expect(folder.sizes == [1000])
    caller.cancel()
    #expect(await failure { try await caller.value }?.code == .cancelled)
    #expect(folder.sizes.isEmpty)
  }

  @Test("a download of an attachment with a slow body ends at the time limit and leaves no file")
  func timeLimit() async {
    let (reached, clock) = (Event(), HeldClock())
    let fetcher = ScriptedFetcher { _, _ in Self.stalled(reached) }
    let downloader = folder.downloader(fetcher, rules: DownloadRules(longest: .seconds(7)), clock: clock)
    async let error = failure { try await downloader.download(Sample.request) }
    await reached.wait()
    #expect(folder.sizes == [1000])
    clock.end()
    #expect(await error == DownloadError(.tookTooLong, of: .attachment, host: "sounds.example"))
    #expect(clock.deadlines == [.seconds(7)])
    #expect(folder.sizes.isEmpty)
  }

  @Test("a cancelled download does not wait for a fetcher that cannot be cancelled, and a late answer is not stored")
  func deafFetcher() async {
    let held = Locked<AwaitedAnswer<SoundAnswer>?>(nil)
    let (isHeld, isDropped) = (Event(), Event())
    let fetcher = ScriptedFetcher { _, _ in
      // Like a system call, this does not end when the task is cancelled.
      await waitForAnswer { answer in
        held.withLock { $0 = answer }
        isHeld.happen()
      }
    }
    let downloader = folder.downloader(fetcher)
    let caller = Task { try await downloader.download(Sample.request) }
    await isHeld.wait()
    caller.cancel()
    #expect(await failure { try await caller.value }?.code == .cancelled)
    let (late, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    continuation.onTermination = { _ in isDropped.happen() }
    continuation.yield(Sample.file())
    held.withLock { $0 }?.give(SoundAnswer(status: 200, fields: [:], body: late))
    await isDropped.wait()
    #expect(folder.sizes.isEmpty)
  }

  @Test("a download in a task that is already cancelled sends no request")
  func cancelledBefore() async {
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(200, [:], [Sample.file()]) }
    let downloader = folder.downloader(fetcher)
    let mayStart = Event()
    let caller = Task {
      await mayStart.wait()
      return try await downloader.download(Sample.request)
    }
    caller.cancel()
    #expect(await failure { try await caller.value }?.code == .cancelled)
    #expect(fetcher.requests.isEmpty)
    #expect(folder.sizes.isEmpty)
  }

  /// The moments at which the download cancels its caller.
  enum Moment: String, Sendable, CaseIterable {
    /// The folder is opened.
    case folder
    /// The file is made, which a cancellation has to wait for.
    case creation
    case write
    /// The body has ended.
    case end
    /// The file is whole.
    case close
  }

  @Test("a download that is cancelled at any moment leaves no file", arguments: Moment.allCases)
  func moments(_ moment: Moment) async throws {
    let caller = Locked<Task<DownloadedAttachment, any Error>?>(nil)
    let cancel = { @Sendable (now: Moment) in
      if now == moment { caller.withLock { $0 }?.cancel() }
    }
    let system = FileSystemCalls.system
    let made = Locked<FileSystemCalls.Descriptor?>(nil)
    let isCreated = DispatchSemaphore(value: 0)
    var calls = system
    calls.openFolder = { (parent, name) throws(SystemError) in
      cancel(.folder)
      return try system.openFolder(parent, name)
    }
    calls.createFile = { (folder, name, permissions) throws(SystemError) in
      // The cancellation comes from another thread, which begins while the file is made.
      Thread.detachNewThread {
        isCreated.signal()
        cancel(.creation)
      }
      isCreated.wait()
      let file = try system.createFile(folder, name, permissions)
      made.withLock { $0 = file }
      return file
    }
    calls.write = { (file, bytes) throws(SystemError) in
      cancel(.write)
      return try system.write(file, bytes)
    }
    calls.close = { file in
      let isFile = made.withLock { made in
        defer { if made == file { made = nil } }
        return made == file
      }
      if isFile { cancel(.close) }
      system.close(file)
    }
    let (mayAnswer, mayEnd) = (Event(), Event())
    let fetcher = ScriptedFetcher { _, _ in
      await mayAnswer.wait()
      let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
      continuation.yield(Sample.file())
      continuation.finish()
      return SoundAnswer(status: 200, fields: [:], body: stream) {
        cancel(.end)
        // The thread of the creation may be late.
        if moment == .creation { await mayEnd.wait() }
        return nil
      }
    }
    let downloader = folder.downloader(fetcher, calls: calls)
    let task = Task { try await downloader.download(Sample.request) }
    caller.withLock { $0 = task }
    mayAnswer.happen()
    #expect(await failure { try await task.value }?.code == .cancelled)
    #expect(folder.sizes.isEmpty)
  }

  @Test("the first of several outcomes of a download counts, and a later wait has the same outcome")
  func firstOutcome() async throws {
    let first = FirstOutcome<Int, DownloadError>()
    let outcome = await first.wait {
      [
        Task.detached {
          first.end(.success(1))
          first.end(.success(2))
          first.end(.failure(DownloadError(.cancelled, of: .attachment)))
        }
      ]
    } onCancel: {
    }
    #expect(try outcome.get() == 1)
    // A wait that begins later gets the same outcome and starts nothing.
    let later = await first.wait {
      Issue.record("Work was started again.")
      return []
    } onCancel: {
    }
    #expect(try later.get() == 1)
  }

  @Test("a downloaded file is either kept or abandoned, and a later call to keep or abandon the file changes nothing")
  func eitherOr() throws {
    let kept = AttachmentFile(folder: folder.attachments, calls: .system)
    try kept.make(fileExtension: "jpg")
    try kept.write([1, 2])
    let file = try #require(kept.keep())
    #expect(!kept.abandon())
    #expect(try Array(Data(contentsOf: file)) == [1, 2])
    let abandoned = AttachmentFile(folder: folder.attachments, calls: .system)
    try abandoned.make(fileExtension: "jpg")
    #expect(abandoned.abandon() && abandoned.abandon())
    #expect(abandoned.keep() == nil)
    #expect(throws: DownloadError(.cancelled, of: .attachment)) { try abandoned.write([1]) }
    let never = AttachmentFile(folder: folder.attachments, calls: .system)
    #expect(never.abandon())
    #expect(throws: DownloadError(.cancelled, of: .attachment)) { try never.make(fileExtension: "jpg") }
    #expect(folder.sizes == [2])
  }
}
