// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import FileSystem
import Foundation
import SoundDownloads
import Testing

@testable import NotificationAttachments

@Suite("Copies of local files as attachments", .timeLimit(.minutes(5)))
struct AttachmentCopyTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func downloader(_ clock: HeldClock = HeldClock(), calls: FileSystemCalls = .system) -> AttachmentDownloader {
    let fetcher = ScriptedFetcher { _, _ in
      Issue.record("A copy needs no request.")
      return SoundAnswer(404)
    }
    return folder.downloader(fetcher, clock: clock, calls: calls)
  }

  private func code(_ file: URL, calls: FileSystemCalls = .system) async -> DownloadError.Code? {
    await failure { try await downloader(calls: calls).copy(of: file) }?.code
  }

  @Test(
    "the copy of an attachment has the bytes of the original, which stays and is not linked to the copy",
    arguments: [12, 1000, 65_536, 300_000])
  func copies(_ count: Int) async throws {
    let bytes = Sample.file(.m4a, count)
    // The name says nothing about the format.
    let file = try folder.write(bytes, as: "voice.dat")
    let copy = try await downloader().copy(of: file, identifier: "voice", options: AttachmentOptions(thumbnailTime: 1))
    #expect(copy.kind == .m4a && copy.byteCount == count && copy.identifier == "voice")
    #expect(copy.options.thumbnailTime == 1)
    #expect(copy.file.pathExtension == "m4a")
    #expect(try Array(Data(contentsOf: copy.file)) == bytes)
    // iOS moves the copy away, and a change of the copy changes nothing else.
    try Data([1]).write(to: copy.file)
    try FileManager.default.moveItem(at: copy.file, to: folder.root.appending(path: "moved"))
    #expect(try Array(Data(contentsOf: file)) == bytes)
    let links = try FileManager.default.attributesOfItem(atPath: file.path)[.referenceCount] as? Int
    #expect(links == 1)
  }

  @Test("an attachment is not copied if it is missing, a folder, a link or a URL of a server")
  func refused() async throws {
    #expect(await code(folder.root.appending(path: "none.jpg")) == .notFound)
    #expect(await code(folder.root.appending(path: "none/none.jpg")) == .notFound)
    #expect(await code(folder.root) == .notReadable)
    let file = try folder.write(Sample.file(), as: "a.jpg")
    let link = folder.root.appending(path: "link.jpg")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    #expect(await code(link) == .notReadable)
    #expect(await code(Sample.url("https://sounds.example/a.jpg")) == .notReadable)
    #expect(folder.sizes.isEmpty)
  }

  @Test("an attachment is not copied if it is empty, too large or of unknown content")
  func badContent() async throws {
    #expect(await code(try folder.write([], as: "a.jpg")) == .emptyAnswer)
    #expect(await code(try folder.write([0xFF, 0xD8, 0xFF], as: "b.jpg")) == .unknownContent)
    #expect(await code(try folder.write(Array("<html><body></body>".utf8), as: "c.jpg")) == .unknownContent)
    #expect(await code(try folder.write(Sample.file(.wav, 5_000_001), as: "d.wav")) == .tooLarge)
    #expect(folder.sizes.isEmpty)
    #expect(await code(try folder.write(Sample.file(.wav, 5_000_000), as: "e.wav")) == nil)
    #expect(folder.sizes == [5_000_000])
  }

  @Test("an attachment that grows or shrinks while it is copied is refused")
  func changing() async throws {
    let file = try folder.write(Sample.file(), as: "a.jpg")
    for (size, expected) in [(999, DownloadError.Code.lengthMismatch), (1001, .truncated)] {
      var calls = FileSystemCalls.system
      calls.status = { (descriptor) throws(SystemError) in
        var status = try FileSystemCalls.system.status(descriptor)
        status.byteCount = size
        return status
      }
      #expect(await code(file, calls: calls) == expected)
    }
    #expect(folder.sizes.isEmpty)
  }

  @Test("an error while an attachment is read ends the copy with the system's error text")
  func unreadable() async throws {
    let file = try folder.write(Sample.file(), as: "a.jpg")
    var calls = FileSystemCalls.system
    calls.read = { (_, _) throws(SystemError) in throw .inputOutput }
    let error = await failure { try await downloader(calls: calls).copy(of: file) }
    #expect(error == DownloadError(.notReadable, of: .attachment, reason: SystemError.inputOutput.description))
    #expect(folder.sizes.isEmpty)
  }

  @Test("a copy reads at most 64 KiB at a time")
  func pieces() async throws {
    let file = try folder.write(Sample.file(.avi, 20_000_000), as: "a.avi")
    let largest = Locked(0)
    var calls = FileSystemCalls.system
    calls.read = { (descriptor, count) throws(SystemError) in
      largest.withLock { $0 = max($0, count) }
      return try FileSystemCalls.system.read(descriptor, count)
    }
    #expect(await code(file, calls: calls) == nil)
    #expect(largest.withLock { $0 } == 64 << 10)
  }

  @Test(
    "a copy of an attachment ends at the time limit or at a cancellation, even if the disk hangs",
    arguments: [true, false])
  func hangingDisk(_ isCancelled: Bool) async throws {
    let file = try folder.write(Sample.file(.avi, 200_000), as: "a.avi")
    let (hangs, ended) = (Event(), Event())
    let mayGoOn = DispatchSemaphore(value: 0)
    let reads = Locked<[FileSystemCalls.Descriptor]>([])
    let system = FileSystemCalls.system
    var calls = system
    calls.read = { (descriptor, count) throws(SystemError) in
      let number = reads.withLock { reads in
        reads.append(descriptor)
        return reads.count
      }
      if number == 2 {
        hangs.happen()
        mayGoOn.wait()
      }
      return try system.read(descriptor, count)
    }
    calls.close = { descriptor in
      system.close(descriptor)
      // The original is closed when the copy was given up.
      if reads.withLock({ $0.last == descriptor }) { ended.happen() }
    }
    let clock = HeldClock()
    let downloader = downloader(clock, calls: calls)
    let task = Task { try await downloader.copy(of: file) }
    await hangs.wait()
    #expect(folder.sizes == [65_536])
    if isCancelled { task.cancel() } else { clock.end() }
    #expect(await failure { try await task.value }?.code == (isCancelled ? .cancelled : .tookTooLong))
    #expect(folder.sizes.isEmpty)
    mayGoOn.signal()
    await ended.wait()
    #expect(folder.sizes.isEmpty)
    #expect(FileManager.default.fileExists(atPath: file.path))
  }
}
