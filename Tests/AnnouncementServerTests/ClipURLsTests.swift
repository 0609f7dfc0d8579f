// SPDX-License-Identifier: Apache-2.0

import Foundation
import HummingbirdCore
import ServiceAccess
import Testing

@testable import AnnouncementServer

@Suite("The URL of a clip")
struct ClipURLsTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let name = String(repeating: "a", count: 64) + ".wav"

  private func urls(base: String? = nil, at now: Date? = nil) throws -> ClipURLs {
    let now = now ?? self.now
    return ClipURLs(
      signer: try SignedURL(secret: TestService.secret), base: base, authority: "127.0.0.1:8080", lifetime: 600,
      now: { now })
  }

  private func failure(_ target: String, at now: Date? = nil) throws -> AccessError.Code? {
    do throws(AccessError) {
      try (try? urls(at: now))?.check(URI(target))
      return nil
    } catch {
      return error.code
    }
  }

  private func target(_ url: String) throws -> String { String(url.dropFirst("http://127.0.0.1:8080".count)) }

  @Test("the URL of a clip begins with the host that the caller used, or with the public URL of the settings")
  func base() throws {
    #expect(try urls().url(ofClip: name, authority: nil).hasPrefix("http://127.0.0.1:8080/v1/clips/\(name)?expires="))
    #expect(try urls().url(ofClip: name, authority: "pay.example:81").hasPrefix("http://pay.example:81/v1/clips/"))
    for base in ["https://pay.example/crier", "https://pay.example/crier/"] {
      let url = try urls(base: base).url(ofClip: name, authority: "other")
      #expect(url.hasPrefix("https://pay.example/crier/v1/clips/\(name)?expires=1800000600&signature="))
    }
  }

  @Test("the URL of a clip is valid until its expiry time")
  func lifetime() throws {
    let target = try target(try urls().url(ofClip: name, authority: nil))
    #expect(try failure(target) == nil)
    #expect(try failure(target, at: now.addingTimeInterval(599)) == nil)
    #expect(try failure(target, at: now.addingTimeInterval(600)) == .signatureExpired)
  }

  @Test("the URL of a clip is malformed if its separators were escaped on the way")
  func escaped() throws {
    let target = try target(try urls().url(ofClip: name, authority: nil))
    for changed in [
      target.replacing("&", with: "&amp;"), target.replacing("=", with: "%3D"),
      target.replacing("signature=", with: "signature%3D"), target.replacing("&", with: "%26"),
      target.replacing("?", with: "%3F"), target.replacing("expires=", with: "expires%3D"),
    ] {
      #expect(ClipURLs.isSigned(URI(changed)))
      #expect(try failure(changed) == .signatureMalformed, "\(changed)")
    }
    #expect(!ClipURLs.isSigned(URI(String(target.prefix { $0 != "?" }))))
  }

  @Test("the URL of a clip is valid only for its clip and its expiry time")
  func changed() throws {
    let target = try target(try urls().url(ofClip: name, authority: nil))
    let other = target.replacing("/aaa", with: "/aab")
    #expect(try failure(other) == .signatureInvalid)
    #expect(try failure(target.replacing("1800000600", with: "1800000601")) == .signatureInvalid)
    #expect(try failure(String(target.dropLast(4))) == .signatureMalformed)
    #expect(try failure(String(target.prefix { $0 != "?" })) == .signatureMissing)
    #expect(try failure(target.replacing("expires=1800000600&", with: "")) == .signatureMissing)
    #expect(try failure(target.replacing("expires=1", with: "expires=01")) == .signatureMalformed)
  }
}
