// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Ledger
import ServiceAccess

/// The key with which the person who starts the service for the first time can use the service at once.
struct FirstKey {
  let home: CrierHome
  let ledger: any Ledger.KeyStore

  /// The message about the key when the service starts.
  enum Greeting {
    /// The key was just created. It is printed only this time, even if the output of the service goes to a log.
    case made(APIKey)
    /// The key was created earlier, is in force, and is in its file.
    case kept(APIKey)
    /// Other keys are in force, and the first key was revoked or never created.
    case none
    /// Keys exist, but each has expired or was revoked.
    case noneInForce
  }

  /// Finds the first key, or creates it if no key was ever created and only this machine can reach the service. Expired
  /// and revoked keys were ended on purpose, so no key is created in their place.
  ///
  /// - Throws: ``CommandError`` if other machines can reach the service and no key is in force, or if a file cannot be
  ///   written; `LedgerError`.
  func prepare(isLocal: Bool, host: String) async throws -> Greeting {
    let keys = try await ledger.keys()
    let inForce = keys.filter { $0.isInForce(at: Date()) }
    if inForce.isEmpty {
      guard isLocal else {
        throw CommandError(
          64,
          "--host \(host): other machines can reach this address, but no key exists; create one with crier keys create."
        )
      }
      guard keys.isEmpty else { return .noneInForce }
      let key = APIKey.make()
      // The files are written before the key is stored. If the key were stored without its file, nobody would have the
      // key, and no new key would be made.
      try write(key)
      try await ledger.createKey(
        NewKey(
          id: key.id, account: "default", digest: key.digest, scopes: Set([Scope.admin]).names, name: "first start"))
      return .made(key)
    }
    guard let data = try? Data(contentsOf: home.firstKey),
      let key = try? APIKey(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)),
      inForce.contains(where: { key.hasDigest($0.digest) })
    else { return .none }
    // A home folder of an earlier version contains the key but not the file with the header.
    if (try? Data(contentsOf: home.firstKeyHeader)) != Self.header(key) { try write(key) }
    return .kept(key)
  }

  private func write(_ key: APIKey) throws(CommandError) {
    try PrivateFile.write(Data((key.text + "\n").utf8), to: home.firstKey)
    try PrivateFile.write(Self.header(key), to: home.firstKeyHeader)
  }

  private static func header(_ key: APIKey) -> Data { Data("Authorization: Bearer \(key.text)\n".utf8) }
}

/// The secret with which URLs are signed. It is created once and stays the same after a restart.
enum SigningSecret {
  /// Reads the secret, or creates it.
  ///
  /// - Throws: ``CommandError``.
  static func load(_ file: URL) throws -> Data {
    if let known = try? Data(contentsOf: file), known.count >= SignedURL.secretBytes { return known }
    // A new secret would invalidate every URL given out.
    guard !FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else {
      throw PrivateFile.unusable(file)
    }
    var generator = SystemRandomNumberGenerator()
    let secret = Data((0..<SignedURL.secretBytes).map { _ in UInt8.random(in: 0...255, using: &generator) })
    try PrivateFile.write(secret, to: file)
    return secret
  }
}

/// The writer of files that only their owner can read.
enum PrivateFile {
  static func write(_ data: Data, to file: URL) throws(CommandError) {
    do throws(SystemError) {
      try DurableFile.write(data, to: file)
    } catch {
      throw unusable(file)
    }
  }

  static func unusable(_ file: URL) -> CommandError {
    let path = file.path(percentEncoded: false)
    return CommandError(
      73, "\(path): cannot be read or written; choose a home folder that this user owns with --home or CRIER_HOME.")
  }
}
