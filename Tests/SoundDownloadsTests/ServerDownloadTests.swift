// SPDX-License-Identifier: Apache-2.0

import DownloadTestSupport
import FileSystem
import Foundation
import SoundLibrary
import Testing

@testable import SoundDownloads
@testable import SoundDownloadsURLSession

/// A fetcher that sends the requests for all hosts to a local server, as if it had their addresses.
private struct RoutedFetcher: SoundFetching {
  let port: UInt16
  let fetcher = URLSessionSoundFetcher()

  func fetch(_ request: SoundRequest) async throws -> SoundAnswer {
    var request = request
    var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
    parts?.host = "127.0.0.1"
    parts?.port = Int(port)
    guard let url = parts?.url else { throw SoundFetchError.hostNotFound }
    request.url = url
    return try await fetcher.fetch(request)
  }
}

/// A server that behaves badly, and the error that the download must end with.
struct BadServer: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var code: DownloadError.Code
  /// How many requests the server gets.
  var requests = 1
  var script: LocalServer.Script

  init(
    _ name: String, _ code: DownloadError.Code, requests: Int = 1, _ script: @escaping LocalServer.Script
  ) {
    testDescription = name
    self.code = code
    self.requests = requests
    self.script = script
  }

  static func redirect(_ location: String) -> LocalServer.Script {
    { _, connection in connection.send("302 Found", ["Location: \(location)", "Content-Length: 0"]) }
  }

  static func file(_ bytes: [UInt8], length: Int?, type: String = "audio/wav") -> LocalServer.Script {
    { _, connection in
      connection.send("200 OK", ["Content-Type: \(type)"] + (length.map { ["Content-Length: \($0)"] } ?? []))
      connection.send(bytes)
    }
  }

  static let all: [BadServer] = [
    BadServer("truncates the file", .truncated, requests: 3, file(Sample.wav(), length: 5000)),
    BadServer("declares too few bytes", .contentRefused, file(Sample.wav(), length: 600)),
    BadServer("declares 100 MiB", .tooLarge) { _, connection in
      connection.send("200 OK", ["Content-Type: audio/wav", "Content-Length: \(100 << 20)"])
      let piece = [UInt8](repeating: 0, count: 1 << 16)
      for _ in 0..<1600 { guard connection.send(piece) else { return } }
    },
    BadServer("sends 100 MiB without a length", .tooLarge) { _, connection in
      connection.send("200 OK", ["Content-Type: audio/wav", "Transfer-Encoding: chunked"])
      let piece = Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 1 << 16) + Array("\r\n".utf8)
      for _ in 0..<1600 { guard connection.send(piece) else { return } }
    },
    BadServer("sends a page", .notASound, file(Array("<html>".utf8), length: 6, type: "text/html; charset=utf-8")),
    BadServer("sends a page as a file", .notASound, file(Array("<html>".utf8), length: 6, type: "audio/wav")),
    BadServer("sends an empty file", .emptyAnswer, file([], length: 0)),
    BadServer("redirects to itself", .redirectCircle, redirect("http://sounds.example/a.wav")),
    BadServer("redirects in a circle", .redirectCircle, requests: 2) { request, connection in
      redirect(request.target == "/a.wav" ? "/b.wav" : "/a.wav")(request, connection)
    },
    BadServer("redirects without end", .tooManyRedirects, requests: 6) { request, connection in
      redirect("\(request.target)x")(request, connection)
    },
    BadServer("redirects to this machine", .privateAddress, redirect("http://127.0.0.1/a.wav")),
    BadServer("redirects to this machine in IPv6", .privateAddress, redirect("http://[::1]/a.wav")),
    BadServer("redirects to this machine as a number", .privateAddress, redirect("http://2130706433/a.wav")),
    BadServer("redirects to a name with a private address", .privateAddress, redirect("http://inside.example/")),
    BadServer("redirects to a file of this machine", .invalidRedirect, redirect("file:///etc/passwd")),
    BadServer("redirects to another protocol", .invalidURL, redirect("ftp://other.example/a.wav")),
    BadServer("redirects to an unknown host", .hostNotFound, redirect("http://unknown.example/a.wav")),
    BadServer("closes the connection without an answer", .connectionLost, requests: 3) { _, _ in },
    BadServer("breaks off chunks", .connectionLost, requests: 3) { _, connection in
      connection.send("200 OK", ["Content-Type: audio/wav", "Transfer-Encoding: chunked"])
      connection.send(Array("400\r\nRIFF".utf8))
    },
    BadServer("does not have the file", .notFound) { _, connection in
      connection.send("404 Not Found", ["Content-Length: 0"])
    },
    BadServer("wants a login", .accessRefused) { _, connection in
      connection.send("403 Forbidden", ["Content-Length: 0"])
    },
    BadServer("asks for a password", .accessRefused) { _, connection in
      connection.send("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"a\"", "Content-Length: 0"])
    },
    BadServer("asks for a password for a proxy", .accessRefused) { _, connection in
      connection.send("407 Proxy Authentication Required", ["Proxy-Authenticate: Basic", "Content-Length: 0"])
    },
    BadServer("redirects with a password", .credentialsInURL, redirect("http://user:secret@other.example/a.wav")),
    BadServer(
      "redirects to this machine in IPv6 as IPv4", .privateAddress, redirect("http://[::ffff:127.0.0.1]/a.wav")),
    BadServer("redirects to a port that does not exist", .invalidURL, redirect("http://other.example:99999/a.wav")),
    BadServer(
      "redirects to a port with too many digits", .invalidURL,
      redirect("http://other.example:99999999999999999999/a.wav")),
    BadServer("redirects to a name with a zero byte", .invalidURL, redirect("http://other.example%00.example/")),
    BadServer("is busy", .serverBusy) { _, connection in
      connection.send("503 Service Unavailable", ["Content-Length: 0"])
    },
    BadServer("has a fault", .serverFailed) { _, connection in
      connection.send("500 Internal Server Error", ["Content-Length: 0"])
    },
    BadServer("says that an unknown file is unchanged", .unexpectedStatus) { _, connection in
      connection.send("304 Not Modified", ["ETag: \"1\""])
    },
  ]
}

@Suite("Downloads from a server, through URLSession", .timeLimit(.minutes(5)))
struct ServerDownloadTests {
  static let url = Sample.url("http://sounds.example/a.wav")

  let home: TemporaryLibrary

  init() throws { home = try TemporaryLibrary() }

  private func downloader(_ server: LocalServer, clock: any Clock<Duration> = HeldClock()) -> SoundDownloader {
    SoundDownloader(
      library: home.library, fetcher: RoutedFetcher(port: server.port), resolver: TableResolver(),
      rules: DownloadRules(allowsUnencrypted: true), clock: clock, check: Sample.check)
  }

  @Test(
    "each kind of bad answer to a download has its own error, and the library is unchanged", arguments: BadServer.all)
  func badServers(_ bad: BadServer) async throws {
    let old = Sample.wav(seed: 9)
    _ = try home.library.publish(old, as: "a.wav")
    let server = try LocalServer(bad.script)
    let downloader = downloader(server)
    let error = await failure { try await downloader.download(Self.url, as: "a.wav") }
    #expect(error?.code == bad.code)
    #expect(server.requests.count == bad.requests)
    #expect(home.files == ["a.wav": old])
    #expect(home.records.isEmpty)
  }

  @Test(
    "a download from a server that stalls before or within its answer ends at the time limit", arguments: [0, 1, 500])
  func stalls(_ sent: Int) async throws {
    let old = Sample.wav(seed: 9)
    _ = try home.library.publish(old, as: "a.wav")
    let stalled = Event()
    let closed = Event()
    let server = try LocalServer { _, connection in
      if sent > 0 {
        connection.send("200 OK", ["Content-Type: audio/wav", "Content-Length: 5000"])
        connection.send(Array(Sample.wav().prefix(sent)))
      }
      stalled.happen()
      connection.waitForClient()
      closed.happen()
    }
    let clock = HeldClock()
    let downloader = downloader(server, clock: clock)
    async let error = failure { try await downloader.download(Self.url, as: "a.wav") }
    await stalled.wait()
    clock.end()
    #expect(await error?.code == .tookTooLong)
    #expect(clock.deadlines == [.seconds(20)])
    await closed.wait()
    #expect(home.files == ["a.wav": old])
  }

  @Test("a download follows redirects within the limit to the sound")
  func redirected() async throws {
    let server = try LocalServer { request, connection in
      guard request.target == "/new.wav?token=1" else {
        return BadServer.redirect("http://other.example/new.wav?token=1")(request, connection)
      }
      BadServer.file(Sample.wav(), length: Sample.wav().count)(request, connection)
    }
    let sound = try await downloader(server).download(Self.url)
    #expect(sound.isNew)
    #expect(sound.name == IncrementalSHA256.hexadecimalDigest(of: Self.url.absoluteString.utf8) + ".wav")
    #expect(home.files == [sound.name: Sample.wav()])
  }

  @Test("a download that breaks in the middle continues with the missing bytes")
  func resumes() async throws {
    let bytes = Sample.wav(100_000)
    let server = try LocalServer { request, connection in
      let first = request.fields["range"].flatMap { $0.wholeMatch(of: /bytes=(\d+)-/) }.flatMap { Int($0.1) }
      guard let first, request.fields["if-range"] == "\"v1\"" else {
        connection.send("200 OK", ["Content-Type: audio/wav", "Content-Length: \(bytes.count)", "ETag: \"v1\""])
        connection.send(Array(bytes.prefix(40_000)))
        return
      }
      connection.send(
        "206 Partial Content",
        [
          "Content-Type: audio/wav", "Content-Length: \(bytes.count - first)", "ETag: \"v1\"",
          "Content-Range: bytes \(first)-\(bytes.count - 1)/\(bytes.count)",
        ])
      connection.send(Array(bytes[first...]))
    }
    _ = try await downloader(server).download(Self.url, as: "a.wav")
    #expect(home.files == ["a.wav": bytes])
    #expect(server.requests.count == 2)
    #expect(server.requests.last?.fields["range"] == "bytes=40000-")
  }

  @Test("a stored sound is requested with its entity tag, and stays if the answer is 304")
  func notModified() async throws {
    let server = try LocalServer { request, connection in
      guard request.fields["if-none-match"] == "W/\"v1\"" else {
        connection.send(
          "200 OK", ["Content-Type: audio/wav", "Content-Length: \(Sample.wav().count)", "ETag: W/\"v1\""])
        connection.send(Sample.wav())
        return
      }
      connection.send("304 Not Modified", ["ETag: W/\"v1\""])
    }
    let downloader = downloader(server)
    let first = try await downloader.download(Self.url)
    let second = try await downloader.download(Self.url)
    #expect(first.isNew)
    #expect(!second.isNew)
    #expect(second.name == first.name && second.file == first.file)
    #expect(home.files == [first.name: Sample.wav()])
    #expect(server.requests.count == 2)
  }

  @Test("a download in a cancelled task ends with an error")
  func cancelledRequest() async throws {
    // Without the cancellation, the request would never end.
    let server = try LocalServer { _, connection in
      connection.send("200 OK", ["Content-Type: audio/wav", "Content-Length: 5000"])
      connection.send(Sample.wav())
      connection.waitForClient()
    }
    let request = SoundRequest(
      url: Sample.url("http://127.0.0.1:\(server.port)/a.wav"), fields: [:], addresses: [], mostBytes: 10_000)
    // The cancellation may come before the request is started, or pass it, so that the head of an answer still arrives.
    for _ in 0..<50 {
      let mayStart = Event()
      let fetcher = URLSessionSoundFetcher()
      let fetch = Task {
        await mayStart.wait()
        #expect(Task.isCancelled)
        return try await fetcher.fetch(request)
      }
      fetch.cancel()
      do {
        for try await _ in try await fetch.value.body {}
        Issue.record("The request was not cancelled.")
      } catch {
        #expect(error as? SoundFetchError == .connectionLost)
      }
    }
  }

  @Test("a request whose download fails before the request starts is never sent, and has the error of the failure")
  func endedEarly() async throws {
    let answer = SessionAnswer(mostBytes: 10) {}
    answer.end(.connectionLost)
    await #expect(throws: SoundFetchError.connectionLost) {
      try await answer.head { Issue.record("It was started.") }
    }
  }

  @Test("the connection of a download is closed after the last reader of its answer is gone")
  func dropped() async throws {
    let closed = Event()
    let server = try LocalServer { _, connection in
      connection.send("200 OK", ["Content-Type: audio/wav", "Content-Length: 5000"])
      connection.send([1])
      connection.waitForClient()
      closed.happen()
    }
    let request = SoundRequest(
      url: Sample.url("http://127.0.0.1:\(server.port)/a.wav"), fields: [:], addresses: [], mostBytes: 10_000)
    let fetcher = URLSessionSoundFetcher()
    #expect(try await fetcher.fetch(request).status == 200)
    await closed.wait()
  }

  @Test("a download from a port on which no program listens has its own error")
  func nothingListens() async throws {
    let port = try LocalServer { _, _ in }.port
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/a.wav"))
    let downloader = SoundDownloader(
      library: home.library, fetcher: URLSessionSoundFetcher(),
      rules: DownloadRules(allowsUnencrypted: true, allowsPrivateAddresses: true), clock: HeldClock(),
      check: Sample.check)
    let error = await failure { try await downloader.download(url) }
    #expect(error?.code == .cannotConnect)
    #expect(home.files.isEmpty)
  }

  @Test("a download from a server without a valid certificate has its own error")
  func noEncryption() async throws {
    let server = try LocalServer(BadServer.file(Sample.wav(), length: nil))
    let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/a.wav"))
    let downloader = SoundDownloader(
      library: home.library, fetcher: URLSessionSoundFetcher(), rules: DownloadRules(allowsPrivateAddresses: true),
      clock: HeldClock(), check: Sample.check)
    let error = await failure { try await downloader.download(url) }
    #expect(error?.code == .notTrusted)
    #expect(home.files.isEmpty)
  }
}
