// SPDX-License-Identifier: Apache-2.0

public import Ledger

/// What a player does at one moment.
public struct LaneStatus: Sendable, Hashable {
  public struct Playing: Sendable, Hashable {
    public var number: Int64
    public var category: Ledger.Category
    public var positionMilliseconds: Int
    public var lengthMilliseconds: Int
    /// False while its device is lost.
    public var isHeard: Bool
    /// The payments that it stands for.
    public var standsFor: [Int64]
    /// Whether it is heard once more.
    public var isReplay: Bool
  }

  public struct Waiting: Sendable, Hashable {
    public var number: Int64
    public var category: Ledger.Category
    /// accepted, rendering or waiting.
    public var state: Ledger.State
    /// The code of its last failure, when its sound could not be made and is tried again.
    public var failure: String?
    /// Whether it is heard once more.
    public var isReplay: Bool
  }

  public var lane: String
  public var isPaused: Bool
  /// 0 to 100 per cent.
  public var volume: Int
  public var isDeviceLost: Bool
  public var playing: Playing?
  public var waitingCount: Int
  /// The next ones, in the order in which they will be heard as things stand; 20 at most.
  public var next: [Waiting]
  /// The code of the ledger's last error, while it lasts: nothing begins then.
  public var ledgerFailure: String?
}
