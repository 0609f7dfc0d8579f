// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import FileSystem
import Foundation
import HostAddresses
import SoundDownloads
import Testing

@testable import NotificationAttachments

@Suite("Downloader of attachments", .timeLimit(.minutes(5)))
struct AttachmentDownloaderTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failure(
    _ answer: @escaping ScriptedFetcher.Script, rules: DownloadRules = DownloadRules(),
    calls: FileSystemCalls = .system,
    url: String = "https://sounds.example/a.jpg"
  ) async -> DownloadError? {
    let downloader = folder.downloader(ScriptedFetcher(answer), rules: rules, calls: calls)
    return await NotificationAttachmentsTests.failure {
      try await downloader.download(AttachmentRequest(url: Sample.url(url)))
    }
  }

  @Test("an attachment of each format is stored with its bytes and its extension", arguments: AttachmentKind.allCases)
  func formats(_ kind: AttachmentKind) async throws {
    let bytes = Sample.file(kind, 100_000)
    let pieces = [Array(bytes[..<5]), Array(bytes[5..<40_000]), Array(bytes[40_000...])]
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(200, ["Content-Length": "100000"], pieces) }
    let options = AttachmentOptions(hidesThumbnail: true)
    let request = AttachmentRequest(url: Sample.request.url, identifier: "receipt", options: options)
    let attachment = try await folder.downloader(fetcher).download(request)
    #expect(attachment.kind == kind)
    #expect(attachment.byteCount == 100_000)
    #expect(attachment.identifier == "receipt")
    #expect(attachment.options == options)
    #expect(attachment.file.pathExtension == kind.fileExtension)
    #expect(try Array(Data(contentsOf: attachment.file)) == bytes)
    #expect(folder.sizes == [100_000])
  }

  @Test("the request for an attachment accepts uncompressed media only, and goes to the checked addresses")
  func request() async throws {
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(200, [:], [Sample.file()]) }
    _ = try await folder.downloader(fetcher).download(Sample.request)
    let request = try #require(fetcher.requests.first)
    #expect(fetcher.requests.count == 1)
    #expect(request.method == "GET" && request.body == nil)
    #expect(request.fields["Accept-Encoding"] == "identity")
    #expect(request.addresses == [TableResolver.publicAddress])
    #expect(request.mostBytes == 50_000_000)
  }

  @Test("two downloads of one attachment are two separate files that only the owner can read")
  func separateFiles() async throws {
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(200, [:], [Sample.file()]) }
    let downloader = folder.downloader(fetcher)
    async let first = downloader.download(Sample.request)
    async let second = downloader.download(Sample.request)
    let files = try await [first.file, second.file]
    #expect(files[0] != files[1])
    for file in files {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test(
    "the content of an attachment decides on its format, and not its name or content type",
    arguments: [("image/png", "text/html"), ("text/html", "image/jpeg")])
  func content(_ right: String, _ wrong: String) async throws {
    let picture = ScriptedFetcher { _, _ in SoundAnswer(200, ["Content-Type": wrong], [Sample.file(.png)]) }
    let url = Sample.url("https://sounds.example/index.html")
    #expect(try await folder.downloader(picture).download(AttachmentRequest(url: url)).kind == .png)
    let page = Array("<!DOCTYPE html><html><body>Not found</body></html>".utf8)
    let error = await failure({ _, _ in SoundAnswer(200, ["Content-Type": right], [page]) })
    #expect(error == DownloadError(.unknownContent, of: .attachment, host: "sounds.example"))
    #expect(folder.sizes == [1000])
  }

  @Test("an attachment with unknown, empty, short or truncated content leaves no file")
  func badContent() async {
    #expect(await failure({ _, _ in SoundAnswer(200, [:], [Array("caff12345678".utf8)]) })?.code == .unknownContent)
    #expect(await failure({ _, _ in SoundAnswer(200, [:], []) })?.code == .emptyAnswer)
    #expect(await failure({ _, _ in SoundAnswer(200, [:], [[0xFF, 0xD8, 0xFF]]) })?.code == .unknownContent)
    let half = Sample.file(.jpeg, 500)
    #expect(await failure({ _, _ in SoundAnswer(200, ["Content-Length": "1000"], [half]) })?.code == .truncated)
    let broken = await failure({ _, _ in SoundAnswer(200, [:], [half], breaksWith: .connectionLost) })
    #expect(broken?.code == .connectionLost)
    #expect(await failure({ _, _ in SoundAnswer(200, ["Content-Length": "10"], [half]) })?.code == .lengthMismatch)
    #expect(folder.sizes.isEmpty)
  }

  @Test("an attachment from a private host, over http or with a redirect to a private host is refused and not stored")
  func addresses() async {
    let whole: ScriptedFetcher.Script = { _, _ in SoundAnswer(200, [:], [Sample.file()]) }
    for url in [
      "https://inside.example/a.jpg", "https://127.0.0.1/a.jpg", "https://[::1]/a.jpg", "https://2130706433/",
    ] {
      #expect(await failure(whole, url: url)?.code == .privateAddress)
    }
    #expect(await failure(whole, url: "https://nowhere.example/a.jpg")?.code == .hostNotFound)
    #expect(await failure(whole, url: "http://sounds.example/a.jpg")?.code == .notEncrypted)
    let redirect = await failure({ request, _ in
      #expect(request.url.host() == "sounds.example")
      return SoundAnswer(302, ["Location": "https://inside.example/a.jpg"])
    })
    #expect(redirect == DownloadError(.privateAddress, of: .attachment, host: "inside.example"))
    let rebound = await failure({ _, _ in
      SoundAnswer(200, [:], [Sample.file()], connectedTo: IPAddress(bytes: [10, 0, 0, 7]))
    })
    #expect(rebound?.code == .privateAddress)
    #expect(folder.sizes.isEmpty)
  }

  @Test("the download of an attachment follows a redirect to another public host")
  func redirect() async throws {
    let fetcher = ScriptedFetcher { _, number in
      if number == 1 { return SoundAnswer(302, ["Location": "https://other.example/b"], [Array("moved".utf8)]) }
      return SoundAnswer(200, [:], [Sample.file(.gif)])
    }
    #expect(try await folder.downloader(fetcher).download(Sample.request).kind == .gif)
    #expect(fetcher.requests.map(\.url.absoluteString) == ["https://sounds.example/a.jpg", "https://other.example/b"])
  }

  @Test(
    "an error of the fetcher becomes the error of the attachment's download",
    arguments: [
      (.hostNotFound, .hostNotFound), (.cannotConnect, .cannotConnect), (.notTrusted, .notTrusted),
      (.connectionLost, .connectionLost),
    ] as [(SoundFetchError, DownloadError.Code)])
  func fetchErrors(_ cause: SoundFetchError, _ code: DownloadError.Code) async {
    #expect(await failure({ _, _ in throw cause }) == DownloadError(code, of: .attachment, host: "sounds.example"))
    #expect(await failure({ _, _ in throw CocoaError(.fileNoSuchFile) })?.code == .connectionLost)
  }

  @Test("a full disk ends the download of an attachment with the system's text, and leaves no file")
  func fullDisk() async {
    var calls = FileSystemCalls.system
    calls.write = { (_, _) throws(SystemError) in throw SystemError(number: ENOSPC) }
    let error = await failure({ _, _ in SoundAnswer(200, [:], [Sample.file()]) }, calls: calls)
    #expect(error?.code == .notStored)
    #expect(error?.reason == SystemError(number: ENOSPC).description)
    #expect(folder.sizes.isEmpty)
  }

  @Test("a folder for attachments that cannot be made is an error")
  func noFolder() async throws {
    _ = try folder.write([1], as: "tmp")
    #expect(await failure({ _, _ in SoundAnswer(200, [:], [Sample.file()]) })?.code == .notStored)
  }

  /// A body that is made only when it is read, and the largest number of its bytes that were not in the file when the
  /// next piece was read.
  private func lazyAnswer(
    _ kind: AttachmentKind, _ count: Int, fields: [String: String] = [:], read: Locked<(count: Int, unwritten: Int)>
  ) -> SoundAnswer {
    let pieceSize = 64 << 10
    let body = AsyncThrowingStream<[UInt8], any Error>(unfolding: { [folder] in
      let start = read.withLock { $0.count }
      let unwritten = start - folder.sizes.reduce(0, +)
      let size = min(pieceSize, count - start)
      read.withLock { $0 = (start + size, max($0.unwritten, unwritten)) }
      if size == 0 { return nil }
      return start == 0 ? Sample.file(kind, size) : [UInt8](repeating: 7, count: size)
    })
    return SoundAnswer(status: 200, fields: fields, body: body)
  }

  @Test("every piece of a movie of 50 MB is in the file before the next piece is read")
  func memory() async throws {
    let read = Locked((count: 0, unwritten: 0))
    let fetcher = ScriptedFetcher { _, _ in lazyAnswer(.mpeg4, 50_000_000, read: read) }
    let attachment = try await folder.downloader(fetcher).download(Sample.request)
    #expect(attachment.byteCount == 50_000_000)
    #expect(folder.sizes == [50_000_000])
    #expect(read.withLock { $0.unwritten } == 0)
  }

  @Test(
    "a body beyond the limit is read only up to the piece that exceeds the limit",
    arguments: [
      AttachmentKind.png, .mp3, .avi,
    ])
  func endlessBody(_ kind: AttachmentKind) async {
    let read = Locked((count: 0, unwritten: 0))
    let error = await failure({ _, _ in lazyAnswer(kind, 1 << 40, read: read) })
    #expect(error?.code == .tooLarge)
    #expect(read.withLock { $0.count } <= kind.family.maximumBytes + (64 << 10))
    #expect(folder.sizes.isEmpty)
  }

  @Test("a declared length beyond the limit of the format ends the download after the first piece")
  func declaredLength() async {
    let read = Locked((count: 0, unwritten: 0))
    let length = ["content-length": "10000001"]
    let error = await failure({ _, _ in lazyAnswer(.jpeg, 10_000_001, fields: length, read: read) })
    #expect(error?.code == .tooLarge)
    #expect(read.withLock { $0.count } == 64 << 10)
    #expect(folder.sizes.isEmpty)
  }
}
