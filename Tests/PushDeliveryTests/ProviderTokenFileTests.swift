// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import Foundation
import PushDelivery
import PushMessages
import Testing

@testable import PushDelivery

@Suite("The file of a provider token")
struct ProviderTokenFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
  private let key: ProviderKey
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  init() throws {
    key = try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation, id: "ABC123DEFG", team: "TEAM123456")
  }

  /// A program that starts so many minutes after the first one. Its own clock counts from its start.
  private func program(after minutes: Double, with key: ProviderKey? = nil) -> ProviderTokens {
    let date = start.addingTimeInterval(minutes * 60)
    let key = key ?? self.key
    return ProviderTokens(key: key, file: ProviderTokenFile(folder: folder, key: key)) {
      ProviderTokenAge.Moment(date: date, elapsed: .seconds(1))
    }
  }

  @Test("programs that start within 40 minutes send the same token, and later ones send a new one")
  func shared() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try program(after: 0).token().text
    #expect(try program(after: 1).token().text == first)
    #expect(try program(after: 39).token().text == first)
    let second = try program(after: 41).token().text
    #expect(second != first)
    #expect(try program(after: 42).token().text == second)
  }

  @Test("a token that another key has signed under the same id is never sent")
  func otherKey() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let wrong = try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation, id: key.id, team: key.team)
    let refused = try program(after: 0, with: wrong).token().text
    let right = try program(after: 1).token().text
    #expect(right != refused)
    #expect(try program(after: 2).token().text == right)
    // A wrong key does not use the token of the right one either, so its fault shows at once.
    #expect(try program(after: 3, with: wrong).token().text != right)
  }

  @Test("a token whose stored time is not its own is not sent")
  func wrongTime() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try program(after: 0).token().text
    let file = folder.appending(path: "TEAM123456-ABC123DEFG")
    let later = Int(start.timeIntervalSince1970) + 3000
    try Data(#"{"issuedAt":\#(later),"token":"\#(first)"}"#.utf8).write(to: file)
    #expect(try program(after: 51).token().text != first)
  }

  @Test("a token from the future, as after a wrong clock, is replaced")
  func future() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try program(after: 600).token().text
    #expect(try program(after: 0).token().text != first)
  }

  @Test("a token that APNs refused is not taken from the file again")
  func refused() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try program(after: 0).token()
    let date = Locked(start.addingTimeInterval(25 * 60))
    let elapsed = Locked(Duration.seconds(1))
    let tokens = ProviderTokens(key: key, file: ProviderTokenFile(folder: folder, key: key)) {
      ProviderTokenAge.Moment(date: date.withLock { $0 }, elapsed: elapsed.withLock { $0 })
    }
    let old = try tokens.token()
    let newer = try #require(try tokens.token(afterRefusalOf: old))
    #expect(newer.text != old.text)
    #expect(try program(after: 26).token().text == newer.text)
  }

  @Test("only the owner can read the file, and a damaged file or a file in place of the folder costs only a new token")
  func damaged() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try program(after: 0).token()
    let file = folder.appending(path: "TEAM123456-ABC123DEFG")
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try Data("not a token".utf8).write(to: file)
    let token = try program(after: 1).token().text
    #expect(token.split(separator: ".").count == 3)
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    #expect(try program(after: 2).token().text.split(separator: ".").count == 3)
  }
}
