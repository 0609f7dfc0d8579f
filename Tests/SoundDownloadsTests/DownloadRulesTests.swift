// SPDX-License-Identifier: Apache-2.0

import DownloadTestSupport
import Foundation
import HostAddresses
import SoundLibrary
import Testing

@testable import SoundDownloads

@Suite("Rules of downloads")
struct DownloadRulesTests {
  private func code(_ text: String, _ rules: DownloadRules = DownloadRules()) throws -> DownloadError.Code? {
    let url = try #require(URL(string: text))
    do throws(DownloadError) {
      try rules.check(url)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(
    "by default, a sound is only downloaded from an https URL with a host and without a password",
    arguments: [
      ("https://a.example/s.wav", nil), ("HTTPS://a.example", nil), ("https://a.example:8443/s.wav?token=1", nil),
      ("https://[2001:db8::1]/s.wav", nil), ("http://a.example/s.wav", .notEncrypted),
      ("ftp://a.example/s.wav", .invalidURL), ("file:///etc/passwd", .invalidURL), ("data:,abc", .invalidURL),
      ("s.wav", .invalidURL), ("//a.example/s.wav", .invalidURL), ("https:///s.wav", .invalidURL),
      ("https://user@a.example/", .credentialsInURL), ("https://user:secret@a.example/", .credentialsInURL),
      ("https://@a.example/", .credentialsInURL), ("https://:secret@a.example/", .credentialsInURL),
      ("https://a.example%2Fs@b.example/", .credentialsInURL), ("HTTP://a.example/", .notEncrypted),
      ("https://a.example./s.wav", nil), ("https://b\u{FC}cher.example/", nil), ("https://a.example:65535/", nil),
      ("https://a.example:/s.wav", nil), ("https://a.example:0/", .invalidURL),
      ("https://a.example:65536/", .invalidURL), ("https://a.example:99999999999999999999/", .invalidURL),
      ("https://[2001:db8::1]:18446744073709551617/", .invalidURL), ("https://[2001:db8::1]:/", nil),
      ("https://a.example%00.b.example/", .invalidURL),
      ("https://a.example%0D%0Ab/", .invalidURL), ("https://a%20b/", .invalidURL),
      ("https://a.example%2Fb/", .invalidURL), ("https://a%40b/", .invalidURL), ("https://a%5Cb/", .invalidURL),
      ("https://a%23b/", .invalidURL), ("https://a%3Fb/", .invalidURL),
    ] as [(String, DownloadError.Code?)])
  func schemes(_ text: String, _ expected: DownloadError.Code?) throws {
    #expect(try code(text) == expected)
  }

  @Test("http is allowed for downloads on request, and every other scheme except https is refused")
  func unencrypted() throws {
    let rules = DownloadRules(allowsUnencrypted: true)
    #expect(try code("http://a.example/s.wav", rules) == nil)
    #expect(try code("ftp://a.example/s.wav", rules) == .invalidURL)
  }

  @Test("the size limit of a download is at least one byte and at most that of the library")
  func sizes() {
    #expect(DownloadRules(mostBytes: 0).mostBytes == 1)
    #expect(DownloadRules(mostBytes: .max).mostBytes == SoundLibrary.maximumClipBytes)
    #expect(DownloadRules(mostBytes: 1000).mostBytes == 1000)
  }

  @Test("one private address among public ones is enough to refuse a host, unless private addresses are allowed")
  func addresses() throws {
    let url = try #require(URL(string: "https://a.example/s.wav"))
    let inside = IPAddress(bytes: [192, 168, 1, 2])
    let mixed = [TableResolver.publicAddress, inside]
    #expect(throws: DownloadError(.privateAddress, host: "a.example")) {
      try DownloadRules().check(mixed, of: url)
    }
    #expect(throws: DownloadError(.hostNotFound, host: "a.example")) { try DownloadRules().check([], of: url) }
    try DownloadRules().check([TableResolver.publicAddress], of: url)
    try DownloadRules(allowsPrivateAddresses: true).check(mixed, of: url)
  }

  @Test(
    "over https, host names may have addresses that a VPN app invents, and the service's name may have a Tailscale one",
    arguments: [
      ("https://a.example/s.wav", "198.18.0.7", nil, true), ("https://a.example/s.wav", "198.19.255.255", nil, true),
      ("http://a.example/s.wav", "198.18.0.7", nil, false), ("https://198.18.0.7/s.wav", "198.18.0.7", nil, false),
      ("https://3323068423/s.wav", "198.18.0.7", nil, false), ("https://a.example/s.wav", "198.20.0.1", nil, true),
      ("https://a.example/s.wav", "192.168.1.2", "a.example", false),
      ("https://a.example/s.wav", "127.0.0.1", "a.example", false),
      ("https://a.example/s.wav", "100.64.1.2", nil, false),
      ("https://a.example/s.wav", "100.64.1.2", "b.example", false),
      ("https://A.example/s.wav", "100.127.1.2", "a.Example", true),
      ("http://a.example/s.wav", "100.64.1.2", "a.example", false),
    ] as [(String, String, String?, Bool)])
  func standIns(_ text: String, _ address: String, _ service: String?, _ isAllowed: Bool) throws {
    let url = try #require(URL(string: text))
    let addresses = [TableResolver.publicAddress, try #require(IPAddress(address))]
    var rules = DownloadRules(allowsUnencrypted: true, serviceHost: service)
    for _ in 0..<2 {
      var error: DownloadError?
      do throws(DownloadError) { try rules.check(addresses, of: url) } catch let caught { error = caught }
      #expect(error?.code == (isAllowed ? nil : .privateAddress))
      // A smaller limit changes nothing else.
      rules = rules.limited(to: 10)
    }
  }

  private func redirect(
    _ location: String?, after trail: [String], _ rules: DownloadRules = DownloadRules(allowsUnencrypted: true)
  ) throws -> Result<String, DownloadError> {
    let trail = try trail.map { try #require(URL(string: $0)) }
    do throws(DownloadError) {
      return .success(try rules.redirect(to: location, after: trail).absoluteString)
    } catch {
      return .failure(error)
    }
  }

  @Test("a redirect may be relative, and its fragment is removed")
  func relative() throws {
    let trail = ["https://a.example/x/s.wav?q=1"]
    #expect(try redirect("t.wav", after: trail) == .success("https://a.example/x/t.wav"))
    #expect(try redirect("/t.wav?y=2#part", after: trail) == .success("https://a.example/t.wav?y=2"))
    #expect(try redirect("//b.example/t.wav", after: trail) == .success("https://b.example/t.wav"))
  }

  @Test("a redirect that leads in a circle, beyond the limit, to http or to an invalid URL is refused")
  func refused() throws {
    let first = "https://a.example/1"
    #expect(try redirect(first, after: [first]) == .failure(DownloadError(.redirectCircle, host: "a.example")))
    #expect(try redirect("#x", after: [first]) == .failure(DownloadError(.redirectCircle, host: "a.example")))
    #expect(
      try redirect(first, after: [first, "https://a.example/2"])
        == .failure(DownloadError(.redirectCircle, host: "a.example")))
    let five = (1...5).map { "https://a.example/\($0)" }
    #expect(try redirect("/6", after: five) == .success("https://a.example/6"))
    #expect(
      try redirect("/7", after: five + ["https://a.example/6"])
        == .failure(DownloadError(.tooManyRedirects, host: "a.example")))
    #expect(
      try redirect("http://a.example/2", after: [first])
        == .failure(DownloadError(.insecureRedirect, host: "a.example")))
    #expect(try redirect(nil, after: [first]) == .failure(DownloadError(.invalidRedirect, host: "a.example")))
    #expect(try redirect("", after: [first]) == .failure(DownloadError(.invalidRedirect, host: "a.example")))
    #expect(
      try redirect("https://user:secret@b.example/", after: [first])
        == .failure(DownloadError(.credentialsInURL, host: "b.example")))
  }

  @Test(
    "a download is refused if its content type does not fit a sound",
    arguments: [
      (nil, true), ("audio/wav", true), ("audio/x-caf; a=b", true), ("application/octet-stream", true),
      ("binary/octet-stream", true), ("Audio/AIFF", true), ("nonsense", true),
      ("text/html", false), ("TEXT/HTML; charset=utf-8", false), ("application/json", false),
      ("application/problem+json", false), ("application/xhtml+xml", false), ("application/xml", false),
      ("image/png", false), ("video/mp4", false), ("multipart/byteranges; boundary=x", false),
    ] as [(String?, Bool)])
  func contentTypes(_ type: String?, _ isPossible: Bool) {
    #expect(SoundKind.isPossible(contentType: type) == isPossible)
  }

  @Test("the format of a downloaded sound is recognised by its first bytes")
  func kinds() {
    #expect(SoundKind(Sample.wav()) == .wav)
    #expect(SoundKind(Array("FORM....AIFF".utf8)) == .aiff)
    #expect(SoundKind(Array("FORM....AIFC".utf8)) == .aiff)
    #expect(SoundKind(Array("caff".utf8)) == .caf)
    for other in ["", "RIFF", "RIFF....AVI ", "FORM....8SVX", "fLaC", "<html>", "ID3"] {
      #expect(SoundKind(Array(other.utf8)) == nil)
    }
  }

  @Test("the error of a download names the attempt, the host and the remedy, and no other part of the URL")
  func texts() throws {
    for code in DownloadError.Code.allCases {
      let text = DownloadError(code, host: "a.example", status: 404, reason: "It is short.").description
      #expect(text.hasPrefix("Downloading a sound from a.example failed: "))
      #expect(text.hasSuffix(".") && !text.contains(".."))
      #expect(text.contains(". "))
    }
    let texts = Set(DownloadError.Code.allCases.map { DownloadError($0).description })
    #expect(texts.count == DownloadError.Code.allCases.count)
    let url = try #require(URL(string: "http://a.example/secret.wav?token=secret"))
    let error = #expect(throws: DownloadError.self) { try DownloadRules().check(url) }
    #expect(error.map { !"\($0)".contains("secret") } == true)
    #expect(
      DownloadError(.contentRefused, host: "a.example", reason: "The header lies.").description
        == "Downloading a sound from a.example failed: the sound was refused: The header lies. "
        + "Replace the file on the server.")
  }
}
