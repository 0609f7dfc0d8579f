// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation
import PushMessages

/// The file in which the programs that use one home folder share the provider token of a key.
///
/// APNs refuses a key whose tokens change more often than every 20 minutes (429 `TooManyProviderTokenUpdates`). A
/// service that starts twice within that time, or a command beside a service, must therefore send the same token. The
/// file can be read by its owner only, and the token in it is worthless after an hour.
public struct ProviderTokenFile: Sendable {
  private struct Content: Codable {
    /// Seconds since 1970, as in the token.
    var issuedAt: Int
    var token: String
  }

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

  /// The name of a key's file. Two keys with the same ids have two files. With one file, a wrong key would replace the
  /// token of the right key, and APNs would refuse a new token of the right key for 20 minutes.
  static func name(for key: ProviderKey) -> String { "\(key.team)-\(key.id)-\(key.fingerprint)" }

  /// Returns the token that another program has stored, or else stores and returns a new one. A lock keeps two programs
  /// from doing this at the same time.
  ///
  /// If the file cannot be used, the new token is returned nevertheless. It is better to send the push now, even if
  /// APNs may refuse a later token.
  ///
  /// - Parameters:
  ///   - now: The time of day.
  ///   - isUsable: Returns whether a token that was stored with this time, and has this age in seconds, may be sent.
  ///   - make: Makes a token that is issued now.
  func token(
    at now: Date, isUsable: (_ token: String, _ issuedAt: Date, _ age: TimeInterval) -> Bool, make: () throws -> String
  ) throws -> (text: String, issuedAt: Date) {
    let folder = url.deletingLastPathComponent()
    try? FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let lock = try? LockedFile(url, patience: patience)
    return try withExtendedLifetime(lock) {
      if let stored = read() {
        let date = Date(timeIntervalSince1970: Double(stored.issuedAt))
        let age = now.timeIntervalSince(date)
        // A token from the future was made with another clock.
        if age >= 0, isUsable(stored.token, date, age) { return (stored.token, date) }
      }
      let seconds = Int(now.timeIntervalSince1970)
      let token = try make()
      if let lock, var bytes = (try? JSONEncoder().encode(Content(issuedAt: seconds, token: token))).map(Array.init),
        bytes.count <= Self.byteCount
      {
        bytes += repeatElement(UInt8(ascii: " "), count: Self.byteCount - bytes.count)
        try? lock.write(bytes)
      }
      return (token, Date(timeIntervalSince1970: Double(seconds)))
    }
  }

  private func read() -> Content? {
    guard let bytes = (try? LockedFile.look(at: url, count: Self.byteCount))??.bytes, !bytes.isEmpty else { return nil }
    return try? JSONDecoder().decode(Content.self, from: Data(bytes))
  }
}
