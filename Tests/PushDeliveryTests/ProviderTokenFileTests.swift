// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import FileSystem
import Foundation
import PushDelivery
import PushMessages
import Testing
import TestSupport

@testable import PushDelivery

@Suite("The file of a provider token", .timeLimit(.minutes(5)))
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

  @Test("programs that start within 40 minutes send the same provider token, and a later program sends a new one")
  func shared() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try await program(after: 0).token().text
    #expect(try await program(after: 1).token().text == first)
    #expect(try await program(after: 39).token().text == first)
    let second = try await program(after: 41).token().text
    #expect(second != first)
    #expect(try await program(after: 42).token().text == second)
  }

  @Test("a stored provider token is not sent if another key has signed it under the same id")
  func otherKey() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let wrong = try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation, id: key.id, team: key.team)
    let refused = try await program(after: 0, with: wrong).token().text
    let right = try await program(after: 1).token().text
    #expect(right != refused)
    #expect(try await program(after: 2).token().text == right)
    #expect(try await program(after: 3, with: wrong).token().text == refused, "each key keeps its own")
    #expect(try await program(after: 4).token().text == right, "so the right key needs no new one afterwards")
    // A wrong key does not use the token of the right one either, so its fault shows at once.
    #expect(try await program(after: 5, with: wrong).token().text != right)
  }

  @Test("a stored provider token is not sent if its stored time is wrong")
  func wrongTime() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try await program(after: 0).token().text
    let file = folder.appending(path: ProviderTokenFile.name(for: key))
    let later = Int(start.timeIntervalSince1970) + 3000
    try Data(#"{"issuedAt":\#(later),"token":"\#(first)"}"#.utf8).write(to: file)
    #expect(try await program(after: 51).token().text != first)
  }

  @Test("a stored provider token with a time in the future is replaced")
  func future() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try await program(after: 600).token().text
    #expect(try await program(after: 0).token().text != first)
  }

  @Test("a provider token that APNs refused is not read from the file again")
  func refused() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try await program(after: 0).token()
    let date = Locked(start.addingTimeInterval(25 * 60))
    let elapsed = Locked(Duration.seconds(1))
    let tokens = ProviderTokens(key: key, file: ProviderTokenFile(folder: folder, key: key)) {
      ProviderTokenAge.Moment(date: date.withLock { $0 }, elapsed: elapsed.withLock { $0 })
    }
    let old = try await tokens.token()
    let newer = try #require(try await tokens.token(afterRefusalOf: old))
    #expect(newer.text != old.text)
    #expect(try await program(after: 26).token().text == newer.text)
  }

  @Test("while one program waits for another to renew the provider token, its requests use the valid old token")
  func renewalWaits() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (date, looks) = (Locked(start), Locked(0))
    let tokens = ProviderTokens(key: key, file: ProviderTokenFile(folder: folder, key: key, patience: 600)) {
      looks.withLock { $0 += 1 }
      let moment = date.withLock { $0 }
      return ProviderTokenAge.Moment(date: moment, elapsed: .seconds(moment.timeIntervalSince(start)))
    }
    let old = try await tokens.token()
    date.withLock { $0 = start.addingTimeInterval(25 * 60) }
    var lock = try LockedFile(folder.appending(path: ProviderTokenFile.name(for: key)), patience: 0)
    #expect(lock != nil)
    let before = looks.withLock { $0 }
    let renewal = Task { try await tokens.token(afterRefusalOf: old) }
    // The renewal asks for the time twice before it waits for the file.
    try await eventually { looks.withLock({ $0 }) >= before + 2 }
    #expect(try await tokens.token() == old)
    withExtendedLifetime(lock) {}
    lock = nil
    let newer = try await renewal.value
    #expect(newer != nil && newer != old)
    #expect(try await tokens.token() == newer)
  }

  @Test("only the owner can read the file of the provider token, and a damaged file or folder leads to a new token")
  func damaged() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try await program(after: 0).token()
    let file = folder.appending(path: ProviderTokenFile.name(for: key))
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try Data("not a token".utf8).write(to: file)
    let token = try await program(after: 1).token().text
    #expect(token.split(separator: ".").count == 3)
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    #expect(try await program(after: 2).token().text.split(separator: ".").count == 3)
  }
}
