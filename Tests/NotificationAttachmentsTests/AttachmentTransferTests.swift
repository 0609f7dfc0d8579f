// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDownloads
import Testing

@testable import NotificationAttachments

@Suite("Requests and answers of a download")
struct AttachmentTransferTests {
  private func transfer(
    _ text: String = "https://a.example/1.jpg", _ rules: DownloadRules = DownloadRules()
  ) throws -> AttachmentTransfer {
    try AttachmentTransfer(Sample.url(text), rules: rules)
  }

  private func code(_ work: () throws -> Void) -> DownloadError.Code? {
    do {
      try work()
      return nil
    } catch {
      return (error as? DownloadError)?.code
    }
  }

  @Test(
    "the URL of an attachment must follow the rules for sound downloads",
    arguments: [
      ("http://a.example/1.jpg", .notEncrypted), ("ftp://a.example/1.jpg", .invalidURL),
      ("file:///etc/passwd", .invalidURL), ("https://user:secret@a.example/", .credentialsInURL),
      ("https://a.example:0/", .invalidURL), ("1.jpg", .invalidURL), ("https://a.example/1.jpg", nil),
    ] as [(String, DownloadError.Code?)])
  func urls(_ text: String, _ expected: DownloadError.Code?) {
    #expect(code { _ = try transfer(text) } == expected)
  }

  @Test("an attachment may come over http if the rules allow it, and the URL's fragment is not requested")
  func unencrypted() throws {
    let transfer = try transfer("http://a.example/1.jpg#part", DownloadRules(allowsUnencrypted: true))
    #expect(transfer.url.absoluteString == "http://a.example/1.jpg")
  }

  @Test("an error of the download rules names the attachment, and not a sound")
  func ruleErrors() throws {
    #expect(throws: DownloadError(.notEncrypted, of: .attachment, host: "a.example")) {
      try transfer("http://a.example/1.jpg")
    }
  }

  @Test("an attachment's redirect is followed, unless it leads in a circle, to http, to no target or beyond the limit")
  func redirects() throws {
    var transfer = try transfer()
    for (number, status) in [301, 302, 303, 307, 308].enumerated() {
      guard try transfer.receiveHead(status: status, fields: ["location": "/\(number + 2).jpg"]) == nil else {
        Issue.record("The redirect was not followed.")
        return
      }
      #expect(transfer.url.absoluteString == "https://a.example/\(number + 2).jpg")
    }
    #expect(code { _ = try transfer.receiveHead(status: 302, fields: ["location": "/1.jpg"]) } == .redirectCircle)
    #expect(code { _ = try transfer.receiveHead(status: 302, fields: ["location": "/9.jpg"]) } == .tooManyRedirects)
    #expect(code { _ = try transfer.receiveHead(status: 302, fields: [:]) } == .invalidRedirect)
    var first = try self.transfer("https://a.example/", DownloadRules(allowsUnencrypted: true))
    let insecure = ["location": "http://a.example/1.jpg"]
    #expect(code { _ = try first.receiveHead(status: 302, fields: insecure) } == .insecureRedirect)
  }

  @Test(
    "for an attachment, every status other than success and redirects is an error",
    arguments: [
      (204, .unexpectedStatus), (206, .unexpectedStatus), (304, .unexpectedStatus), (400, .unexpectedStatus),
      (401, .accessRefused), (403, .accessRefused), (404, .notFound), (410, .notFound), (429, .serverBusy),
      (500, .serverFailed), (503, .serverBusy),
    ] as [(Int, DownloadError.Code)])
  func statuses(_ status: Int, _ code: DownloadError.Code) throws {
    var transfer = try transfer()
    #expect(throws: DownloadError(code, of: .attachment, host: "a.example", status: status)) {
      try transfer.receiveHead(status: status, fields: [:])
    }
  }

  @Test("a compressed answer to the request for an attachment is refused", arguments: ["gzip", "br", "identity, gzip"])
  func compressed(_ encoding: String) throws {
    var transfer = try transfer()
    #expect(
      code { _ = try transfer.receiveHead(status: 200, fields: ["content-encoding": encoding]) } == .compressedAnswer)
  }

  @Test(
    "an attachment whose declared length is not a number is refused",
    arguments: ["-1", "", "1x", "1, 1", "99999999999999999999"])
  func noNumber(_ length: String) throws {
    var transfer = try transfer()
    #expect(code { _ = try transfer.receiveHead(status: 200, fields: ["content-length": length]) } == .lengthMismatch)
  }

  @Test("an attachment whose declared length is beyond every limit is refused before its body")
  func declaredLength() throws {
    var transfer = try transfer()
    #expect(code { _ = try transfer.receiveHead(status: 200, fields: ["content-length": "50000001"]) } == .tooLarge)
  }
}
