// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import FileSystem
import Foundation
import PushMessages
import Testing

@testable import PhoneRegistration

@Suite("Shared tokens")
struct SharedTokensTests {
  private let folder: TemporaryFolder
  private let tokens: SharedTokens

  init() throws {
    folder = try TemporaryFolder()
    tokens = SharedTokens(folder: folder.url.appending(path: "Registration"), patience: 0)
  }

  @Test("push tokens are kept from one change to the next, in files that only the owner can read")
  func kept() throws {
    _ = try tokens.change { $0.receive(first, .alert) }
    #expect(try tokens.change { $0.tokens } == [.alert: first])
    #expect(try permissions(of: tokens.file) == 0o600)
    #expect(try permissions(of: tokens.lock) == 0o600)
    #expect(try permissions(of: tokens.file.deletingLastPathComponent()) == 0o700)
  }

  @Test("a change of the tokens fails as busy while another process holds the lock")
  func busy() throws {
    _ = try tokens.change { $0.receive(first, .alert) }
    do {
      let lock = try #require(try LockedFile(tokens.lock, patience: 0))
      #expect(throws: PhoneRegistrationError(.tokensBusy)) { _ = try tokens.change { $0.receive(second, .alert) } }
      withExtendedLifetime(lock) {}
    }
    #expect(try tokens.change { $0.tokens } == [.alert: first])
  }

  @Test("the token changes of many processes are all stored")
  func manyProcesses() async throws {
    let folder = folder.url
    try await withThrowingTaskGroup { group in
      for kind in PushTokenKind.allCases {
        group.addTask {
          _ = try SharedTokens(folder: folder).change { $0.receive(Data(kind.rawValue.utf8), kind) }
        }
      }
      try await group.waitForAll()
    }
    let stored = try SharedTokens(folder: folder).change { $0.tokens }
    #expect(Set(stored.keys) == Set(PushTokenKind.allCases))
  }

  @Test("a damaged token file counts as empty, and the next change replaces it", arguments: ["", "{", "[]", "\u{0}"])
  func damaged(text: String) throws {
    _ = try tokens.change { $0.receive(first, .alert) }
    try Data(text.utf8).write(to: tokens.file)
    #expect(try tokens.change { $0.tokens } == [:])
    _ = try tokens.change { $0.receive(second, .alert) }
    #expect(try tokens.change { $0.tokens } == [.alert: second])
    #expect(try permissions(of: tokens.file) == 0o600)
  }

  @Test("if the folder for the tokens cannot be created, the error contains the system's reason")
  func unavailable() throws {
    let file = folder.url.appending(path: "file")
    try Data().write(to: file)
    let error = #expect(throws: PhoneRegistrationError.self) {
      _ = try SharedTokens(folder: file.appending(path: "Registration")).change { $0.tokens }
    }
    #expect(error?.code == .tokensUnavailable)
    #expect(error?.reason != nil)
  }
}
