// SPDX-License-Identifier: Apache-2.0

public import DeviceClient
import FileSystem
public import Foundation

/// The push tokens of an app and of its file-provider extension, in a file of the group container.
///
/// One process at a time changes the file, under a lock. The file is replaced as a whole, and only its owner can read
/// it (0600), because tokens are secrets. A damaged file counts as no tokens: iOS gives them again at the next start.
public struct SharedTokens: Sendable {
  /// The longest time in seconds for which a change waits for other processes. They hold the lock while they replace
  /// the file, and never during a call of the service.
  static let patience: TimeInterval = 5

  private let folder: URL
  private let patience: TimeInterval

  /// - Parameter folder: The folder of the file and of its lock. It is made if it is missing.
  public init(folder: URL) { self.init(folder: folder, patience: Self.patience) }

  init(folder: URL, patience: TimeInterval) {
    self.folder = folder
    self.patience = patience
  }

  var file: URL { folder.appending(path: "tokens.json", directoryHint: .notDirectory) }
  var lock: URL { folder.appending(path: "tokens.lock", directoryHint: .notDirectory) }

  /// Changes the tokens while no other process does. The call blocks the thread. On iOS, the caller sees to it that the
  /// process is not suspended meanwhile.
  ///
  /// - Throws: ``PhoneRegistrationError`` with `tokensBusy` or `tokensUnavailable`. The tokens are unchanged then.
  public func change<Result>(
    _ body: (inout RegisteredTokens) -> Result
  ) throws(PhoneRegistrationError) -> Result {
    do throws(SystemError) {
      try DurableFolder.make(folder, .ownerOnly)
      guard let held = try LockedFile(lock, patience: patience) else {
        throw SystemError.busy
      }
      return try withExtendedLifetime(held) { () throws(SystemError) -> Result in
        let stored = try DurableFile.contents(of: file)
        let old = stored.flatMap { try? JSONDecoder().decode(RegisteredTokens.self, from: $0) }
        var tokens = old ?? RegisteredTokens()
        let result = body(&tokens)
        // Tokens that a loss of power takes come again at the next start, so the disk is not waited for.
        if tokens != old { _ = try DurableFile.replace(StoredFile.json(tokens), at: file, isCurrent: { true }) }
        return result
      }
    } catch {
      throw error.kind == .busy
        ? PhoneRegistrationError(.tokensBusy)
        : PhoneRegistrationError(.tokensUnavailable, reason: error.description)
    }
  }
}
