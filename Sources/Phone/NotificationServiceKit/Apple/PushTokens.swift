// SPDX-License-Identifier: Apache-2.0

#if canImport(PushKit)
  public import Foundation
  public import PushKit

  /// The push tokens of PushKit. The app and its file-provider extension each keep one `PushTokens` for as long as they
  /// run, because each has a token of its own.
  ///
  /// When a token arrives, register the device with it. When the token becomes invalid, register the device again
  /// without a token. iOS gives a new token by itself.
  public final class PushTokens: NSObject, PKPushRegistryDelegate {
    /// The kinds of tokens. There is no kind for VoIP, because an app must report a call for each VoIP push.
    public enum Kind: Sendable, Hashable, CaseIterable {
      /// The token for file-provider pushes.
      case fileProvider

      init?(_ type: PKPushType) {
        guard type == .fileProvider else { return nil }
        self = .fileProvider
      }
    }

    private let registry: PKPushRegistry
    private let changed: @Sendable (Kind, Data?) -> Void

    /// Asks iOS for the token.
    ///
    /// - Parameter changed: Receives each token, or nil when the token has become invalid. It is called on the main
    ///   thread, also at each start of the program.
    public init(changed: @escaping @Sendable (Kind, Data?) -> Void) {
      registry = PKPushRegistry(queue: .main)
      self.changed = changed
      super.init()
      registry.delegate = self
      registry.desiredPushTypes = [.fileProvider]
    }

    public func pushRegistry(
      _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType
    ) {
      Kind(type).map { changed($0, pushCredentials.token) }
    }

    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {
      Kind(type).map { changed($0, nil) }
    }
  }
#endif
