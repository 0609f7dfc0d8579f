// SPDX-License-Identifier: Apache-2.0

public import DeviceClient
import FileSystem
public import Foundation

/// The push tokens of an app and of its file-provider extension, in a file of the group container.
///
/// A process changes the file only while it holds a lock. The file is replaced as a whole, and only its owner can read
/// it (mode 0600), because tokens are secrets. A damaged file counts as having no tokens, because iOS gives the tokens
/// again at the next start.
public struct SharedTokens: Sendable {
  /// The longest time in seconds for which a change waits for other processes. A process holds the lock while it
  /// replaces the file, but never during a call of the service.
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

  /// Changes the tokens while no other process changes them. The call blocks the thread. On iOS, the caller must make
  /// sure that the process is not suspended meanwhile.
  ///
  /// - Throws: ``PhoneRegistrationError`` with `tokensBusy` or `tokensUnavailable`. The tokens are then unchanged.
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
        // This does not wait for the disk. If a loss of power destroys tokens, iOS gives them again at the next start.
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
