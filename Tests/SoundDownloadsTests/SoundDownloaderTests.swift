// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import FileSystem
import Foundation
import HostAddresses
import TestSupport
import Testing

@testable import SoundDownloads
@testable import SoundLibrary

@Suite("Downloader of sounds", .timeLimit(.minutes(5)))
struct SoundDownloaderTests {
  static let url = Sample.url("https://sounds.example/a.wav")

  let home: TemporaryLibrary

  init() throws { home = try TemporaryLibrary() }

  private func downloader(
    _ fetcher: ScriptedFetcher, rules: DownloadRules = DownloadRules(), clock: HeldClock = HeldClock(),
    library: SoundLibrary? = nil
  ) -> SoundDownloader {
    SoundDownloader(
      library: library ?? home.library, fetcher: fetcher, resolver: TableResolver(), rules: rules, clock: clock,
      check: Sample.check)
  }

  /// A fetcher that answers every request with the whole sound.
  private static var whole: ScriptedFetcher {
    ScriptedFetcher { _, _ in SoundAnswer(200, ["ETag": "\"v1\""], [Sample.wav()]) }
  }

  @Test("callers of the same URL and name share one download, and the cancellation of one caller does not end it")
  func shared() async throws {
    let mayAnswer = Event()
    let fetcher = ScriptedFetcher { _, _ in
      await mayAnswer.wait()
      return SoundAnswer(200, [:], [Sample.wav()])
    }
    let downloader = downloader(fetcher)
    let callers = (0..<20).map { number in
      // The fragment is not sent, so it makes no difference.
      Task { try await downloader.download(URL(string: "\(Self.url)#\(number)") ?? Self.url, as: "a.wav") }
    }
    try await eventually("20 callers wait") { downloader.waiting == 20 }
    callers[0].cancel()
    callers[7].cancel()
    for number in [0, 7] {
      let error = await failure { try await callers[number].value }
      #expect(error?.code == .cancelled)
    }
    #expect(downloader.waiting == 18)
    mayAnswer.happen()
    for (number, caller) in callers.enumerated() where number != 0 && number != 7 {
      #expect(try await caller.value.name == "a.wav")
    }
    #expect(fetcher.requests.count == 1)
    #expect(home.files == ["a.wav": Sample.wav()])
  }

  @Test("if all callers are cancelled, their download is cancelled, and a later caller starts a new one")
  func abandoned() async throws {
    let isCancelled = Event()
    let fetcher = ScriptedFetcher { _, number in
      guard number == 1 else { return SoundAnswer(200, [:], [Sample.wav()]) }
      await Event().wait()  // until the task is cancelled
      isCancelled.happen()
      return SoundAnswer(200, [:], [Sample.wav(seed: 7)])
    }
    let downloader = downloader(fetcher)
    let caller = Task { try await downloader.download(Self.url, as: "a.wav") }
    await fetcher.requested.wait()
    caller.cancel()
    #expect(await failure { try await caller.value }?.code == .cancelled)
    await isCancelled.wait()
    _ = try await downloader.download(Self.url, as: "a.wav")
    #expect(home.files == ["a.wav": Sample.wav()])
  }

  @Test("a caller that is already cancelled starts no download")
  func cancelledBefore() async throws {
    let fetcher = Self.whole
    let downloader = downloader(fetcher)
    let mayStart = Event()
    let caller = Task {
      await mayStart.wait()
      return try await downloader.download(Self.url, as: "a.wav")
    }
    caller.cancel()
    #expect(await failure { try await caller.value }?.code == .cancelled)
    #expect(home.files.isEmpty)
    #expect(downloader.waiting == 0)
  }

  @Test("callers with another name or another URL have separate downloads")
  func separate() async throws {
    let downloader = downloader(Self.whole)
    let other = try #require(URL(string: "https://other.example/a.wav"))
    async let first = downloader.download(Self.url)
    async let second = downloader.download(Self.url, as: "b.wav")
    async let third = downloader.download(other)
    let names = try await [first.name, second.name, third.name]
    #expect(Set(names).count == 3)
    #expect(Set(home.files.keys) == Set(names))
  }

  @Test("without a given name, a downloaded sound is named after the digest of its URL and the extension of its format")
  func names() async throws {
    let caf = Array("caff12345678".utf8)
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(200, [:], [caf]) }
    let downloader = SoundDownloader(
      library: home.library, fetcher: fetcher, resolver: TableResolver(), clock: HeldClock(), check: { _ in })
    let sound = try await downloader.download(Self.url)
    #expect(sound.name == IncrementalSHA256.hexadecimalDigest(of: Self.url.absoluteString.utf8) + ".caf")
    #expect(sound.file == home.library.soundsDirectory.appending(path: sound.name))
    #expect(SoundLibrary.isRenderedClip(sound.name))
    let error = await failure { try await downloader.download(Self.url, as: "a.wav") }
    #expect(error?.code == .wrongExtension)
    #expect(home.files == [sound.name: caf])
  }

  @Test(
    "an invalid file name for a sound is refused before a request is sent",
    arguments: [
      String(repeating: "a", count: 64) + ".wav", "a.mp3", "../a.wav", ".a.wav", "",
    ])
  func invalidNames(_ name: String) async {
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer() }
    let error = await failure { try await downloader(fetcher).download(Self.url, as: name) }
    #expect(error?.code == .invalidName)
    #expect(fetcher.requests.isEmpty)
  }

  @Test(
    "a host with a private address gets no request, however the address is written",
    arguments: [
      "inside.example", "inside.example:8443", "127.0.0.1", "127.0.0.1:8443", "0.0.0.0", "0", "127.1", "0x7f.1",
      "017700000001", "2130706433", "%31%32%37.0.0.1", "\u{FF11}\u{FF12}\u{FF17}.0.0.1",
      "127\u{3002}0\u{3002}0\u{3002}1",
      "169.254.169.254", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
      "[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]", "[fe80::1]", "[fd00::1]:8443", "[2002:7f00:1::]",
    ])
  func privateHosts(_ host: String) async throws {
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer() }
    let url = try #require(URL(string: "https://\(host)/a.wav"))
    let error = await failure { try await downloader(fetcher).download(url) }
    #expect(error?.code == .privateAddress)
    #expect(fetcher.requests.isEmpty)
  }

  @Test("an answer from a private address is discarded, although the name had a public address before")
  func rebound() async {
    let fetcher = ScriptedFetcher { request, _ in
      #expect(request.addresses == [TableResolver.publicAddress])
      return SoundAnswer(200, [:], [Sample.wav()], connectedTo: IPAddress(bytes: [10, 0, 0, 7]))
    }
    let error = await failure { try await downloader(fetcher).download(Self.url) }
    #expect(error?.code == .privateAddress)
    #expect(home.files.isEmpty)
  }

  @Test("a redirect without Location, or from https to http, is refused")
  func badRedirects() async {
    let nowhere = ScriptedFetcher { _, _ in SoundAnswer(302) }
    #expect(await failure { try await downloader(nowhere).download(Self.url) }?.code == .invalidRedirect)
    let insecure = ScriptedFetcher { _, _ in SoundAnswer(302, ["Location": "http://sounds.example/a.wav"]) }
    let rules = DownloadRules(allowsUnencrypted: true)
    let error = await failure { try await downloader(insecure, rules: rules).download(Self.url) }
    #expect(error?.code == .insecureRedirect)
  }

  @Test("if the content check refuses a sound, the error contains the check's error, and the library is unchanged")
  func refusedContent() async throws {
    let old = Sample.wav(seed: 9)
    _ = try home.library.publish(old, as: "a.wav")
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(200, ["ETag": "\"v2\""], [Sample.wav() + [0]]) }
    let error = await failure { try await downloader(fetcher).download(Self.url, as: "a.wav") }
    #expect(error?.code == .contentRefused)
    #expect(error?.reason == "The header declares another length.")
    #expect(home.files == ["a.wav": old])
    #expect(home.records.isEmpty)
  }

  @Test("if the library cannot store a downloaded sound, the error has the reason, and the old file stays")
  func fullDisk() async throws {
    let old = Sample.wav(seed: 9)
    _ = try home.library.publish(old, as: "a.wav")
    var calls = FileSystemCalls.system
    calls.write = { (_, _) throws(SystemError) in throw SystemError(number: ENOSPC) }
    let full = SoundLibrary(container: home.library.container, calls: calls)
    let error = await failure { try await downloader(Self.whole, library: full).download(Self.url, as: "a.wav") }
    #expect(error?.code == .notPublished)
    #expect(error?.reason?.contains("the disk is full") == true)
    #expect(home.files == ["a.wav": old])
  }

  @Test("the old file of a sound stays until the new file is complete")
  func oldStays() async throws {
    let old = Sample.wav(seed: 9)
    _ = try home.library.publish(old, as: "a.wav")
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(status: 200, fields: [:], body: stream) }
    let downloader = downloader(fetcher)
    let caller = Task { try await downloader.download(Self.url, as: "a.wav") }
    continuation.yield(Array(Sample.wav().prefix(500)))
    await fetcher.requested.wait()
    #expect(home.files == ["a.wav": old])
    continuation.yield(Array(Sample.wav().dropFirst(500)))
    continuation.finish()
    #expect(try await caller.value.isNew)
    #expect(home.files == ["a.wav": Sample.wav()])
  }

  @Test("the time limit of a download also ends the wait for a fetcher that cannot be cancelled")
  func timeLimit() async {
    let clock = HeldClock()
    let held = Locked<AwaitedAnswer<SoundAnswer>?>(nil)
    let isHeld = Event()
    let silent = ScriptedFetcher { _, _ in
      // Like a system call, this does not end when the task is cancelled.
      await waitForAnswer { answer in
        held.withLock { $0 = answer }
        isHeld.happen()
      }
    }
    let downloader = downloader(silent, rules: DownloadRules(longest: .seconds(3)), clock: clock)
    async let error = failure { try await downloader.download(Self.url) }
    await isHeld.wait()
    clock.end()
    #expect(await error?.code == .tookTooLong)
    #expect(clock.deadlines == [.seconds(3)])
    held.withLock { $0 }?.give(SoundAnswer(200, [:], [Sample.wav()]))
    #expect(home.files.isEmpty)
  }

  @Test("a record of a download is used only if the library still has the recorded bytes")
  func records() async throws {
    let fetcher = ScriptedFetcher { request, _ in
      request.fields["If-None-Match"] == nil ? SoundAnswer(200, ["ETag": "\"v1\""], [Sample.wav()]) : SoundAnswer(304)
    }
    let downloader = downloader(fetcher)
    #expect(try await downloader.download(Self.url, as: "a.wav").isNew)
    #expect(try await !downloader.download(Self.url, as: "a.wav").isNew)
    // Under another name, the file is another one.
    #expect(try await downloader.download(Self.url, as: "b.wav").isNew)
    _ = try home.library.publish(Sample.wav(seed: 5), as: "a.wav")
    #expect(try await downloader.download(Self.url, as: "a.wav").isNew)
    try home.library.remove("a.wav")
    #expect(try await downloader.download(Self.url, as: "a.wav").isNew)
    for name in home.records.keys {
      try Data("{".utf8).write(to: DownloadRecords(library: home.library).folder.appending(path: name))
    }
    #expect(try await downloader.download(Self.url, as: "a.wav").isNew)
    #expect(try await !downloader.download(Self.url, as: "a.wav").isNew)
    #expect(home.files == ["a.wav": Sample.wav(), "b.wav": Sample.wav()])
  }

  @Test("a stored sound that is removed during the request is downloaded again")
  func removedMeanwhile() async throws {
    let library = home.library
    let fetcher = ScriptedFetcher { request, _ in
      guard request.fields["If-None-Match"] == "\"v1\"" else {
        return SoundAnswer(200, ["ETag": "\"v1\""], [Sample.wav()])
      }
      try library.remove("a.wav")
      return SoundAnswer(304)
    }
    let downloader = downloader(fetcher)
    _ = try await downloader.download(Self.url, as: "a.wav")
    #expect(try await downloader.download(Self.url, as: "a.wav").isNew)
    #expect(home.files == ["a.wav": Sample.wav()])
    #expect(fetcher.requests.count == 3)
  }

  @Test("the records of downloads are outside Library/Sounds, contain no URL, and are limited in number")
  func recordFiles() async throws {
    let url = try #require(URL(string: "https://sounds.example/a.wav?token=secret"))
    _ = try await downloader(Self.whole).download(url, as: "a.wav")
    #expect(home.records.count == 1)
    for (name, bytes) in home.records {
      let text = name + String(decoding: bytes, as: UTF8.self)
      #expect(!text.contains("secret") && !text.contains("sounds.example"))
    }
    let records = DownloadRecords(library: home.library, most: 4)
    #expect(records.folder.path.hasSuffix("/group.crier/Library/Caches/.sound-downloads"))
    for number in 0..<7 {
      let id = DownloadID(Self.url, "\(number).wav")
      records.store(id, name: "\(number).wav", entityTag: "\"\(number)\"", bytes: [1])
    }
    #expect(home.records.count == 4)
    let last = DownloadID(Self.url, "6.wav")
    records.store(last, name: "a.wav", entityTag: nil, bytes: [1])
    records.store(last, name: "a.wav", entityTag: String(repeating: "x", count: 5000), bytes: [1])
    #expect(home.records.count == 3)
  }
}
