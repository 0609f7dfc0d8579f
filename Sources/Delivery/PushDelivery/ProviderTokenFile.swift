// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation
import PushMessages

/// The file in which the programs that use one home folder share the provider token of a key.
/// The nodes of a cluster share it through their ledger too; see ``ProviderTokens``.
///
/// APNs refuses a key whose tokens change more often than every 20 minutes (429 `TooManyProviderTokenUpdates`). A
/// service that starts twice within that time, or a command beside a service, must therefore send the same token. The
/// file can be read by its owner only, and the token in it is worthless after an hour.
public struct ProviderTokenFile: Sendable {
  /// The size of the file in bytes. A token has about 220.
  private static let byteCount = 1_024

  private let url: URL
  private let patience: TimeInterval

  /// - Parameters:
  ///   - folder: The folder of the files, which is created if it is missing.
  ///   - key: The key whose token the file holds.
  ///   - patience: The longest wait for another program that renews the token, in seconds.
  public init(folder: URL, key: ProviderKey, patience: TimeInterval = 1) {
    self.patience = patience
    url = folder.appending(path: Self.name(for: key))
  }

  /// The name of a key's file.
  static func name(for key: ProviderKey) -> String { key.sharedName }

  /// Returns the token that another program has stored, or else stores and returns a new one. A lock keeps two programs
  /// from doing this at the same time.
  ///
  /// If the file cannot be used, the new token is returned nevertheless. It is better to send the push now, even if
  /// APNs may refuse a later token.
  ///
  /// - Parameters:
  ///   - now: The time of day.
  ///   - isUsable: Returns whether a stored token of this age in seconds may be sent.
  ///   - make: Makes a token that is issued now.
  func token(
    at now: Date, isUsable: (_ token: IssuedToken, _ age: TimeInterval) -> Bool, make: () throws -> String
  ) throws -> IssuedToken {
    let lock = locked()
    return try withExtendedLifetime(lock) {
      if let stored = read() {
        let age = now.timeIntervalSince(stored.date)
        // A token from the future was made with another clock.
        if age >= 0, isUsable(stored, age) { return stored }
      }
      let token = IssuedToken(text: try make(), issuedAt: Int(now.timeIntervalSince1970))
      write(token, lock)
      return token
    }
  }

  /// Stores the token of another node, so that the other programs of the home send it too. An error is ignored.
  func keep(_ token: IssuedToken) {
    let lock = locked()
    withExtendedLifetime(lock) { if read() != token { write(token, lock) } }
  }

  private func locked() -> LockedFile? {
    let folder = url.deletingLastPathComponent()
    try? FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try? LockedFile(url, patience: patience)
  }

  private func write(_ token: IssuedToken, _ lock: LockedFile?) {
    guard var bytes = (try? JSONEncoder().encode(Content(token))).map(Array.init), bytes.count <= Self.byteCount else {
      return
    }
    bytes += repeatElement(UInt8(ascii: " "), count: Self.byteCount - bytes.count)
    try? lock?.write(bytes)
  }

  private struct Content: Codable {
    /// Seconds since 1970, as in the token.
    var issuedAt: Int
    var token: String

    init(_ token: IssuedToken) { (self.token, issuedAt) = (token.text, token.issuedAt) }
  }

  private func read() -> IssuedToken? {
    guard let bytes = (try? LockedFile.look(at: url, count: Self.byteCount))??.bytes, !bytes.isEmpty else { return nil }
    let content = try? JSONDecoder().decode(Content.self, from: Data(bytes))
    return content.map { IssuedToken(text: $0.token, issuedAt: $0.issuedAt) }
  }
}
