// SPDX-License-Identifier: Apache-2.0

public import Foundation

public struct SHA256Digest: Sequence, Sendable {
  public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA256: Sendable {
  public init() { fatalError() }
  public mutating func update<D: DataProtocol>(data: D) { fatalError() }
  public func finalize() -> SHA256Digest { fatalError() }
}
