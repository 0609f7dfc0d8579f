// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes

/// A limit on the large bodies, such as lists and sounds, that are read into memory at once. Without it, simultaneous
/// bodies could take all of the memory.
final class LargeBodies: Sendable {
  static let most = 6
  /// The maximum number of bodies of one account. Because of this limit, an account that sends its bodies slowly does
  /// not keep other accounts from sending theirs.
  static let mostOfOne = 2

  private let reading = Locked<[String: Int]>([:])

  /// The number of bodies that are being read.
  var count: Int { reading.withLock { $0.values.reduce(0, +) } }

  /// Reads a body.
  ///
  /// - Parameters:
  ///   - account: The account of the sender, whose key was checked before.
  ///   - limit: The maximum size in bytes.
  /// - Throws: ``Problem`` with 429 if the maximum number of bodies is being read; the errors of ``Call/body(upTo:)``.
  func read(_ call: Call, of account: String, upTo limit: Int) async throws -> Data {
    if call.readBody != nil { return try await call.body(upTo: limit) }
    let refusal: Problem? = reading.withLock { reading in
      if reading[account, default: 0] >= Self.mostOfOne {
        return .accountBusy("The account is already sending \(Self.mostOfOne) lists or sounds", retryAfter: 5)
      }
      if reading.values.reduce(0, +) >= Self.most {
        return Problem(
          .tooManyRequests, "busy",
          "The service is already receiving \(Self.most) lists or sounds. Try again in a moment.",
          retryAfter: 5)
      }
      reading[account, default: 0] += 1
      return nil
    }
    if let refusal { throw refusal }
    defer {
      reading.withLock { reading in
        reading[account, default: 1] -= 1
        if reading[account] == 0 { reading[account] = nil }
      }
    }
    return try await call.body(upTo: limit)
  }
}
