// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes

/// A limit on the large bodies, such as lists and sounds, that are read into memory at once. Without it, simultaneous
/// bodies could take all of the memory.
final class LargeBodies: Sendable {
  static let most = 6
  /// The maximum number of bodies of one account. Because of this limit, an account that sends its bodies slowly does
  /// not keep other accounts from sending theirs.
  static let mostOfOne = 2

  private let slots = AccountSlots(
    most: most, mostOfOne: mostOfOne,
    accountBusy: .accountBusy("The account is already sending \(mostOfOne) lists or sounds", retryAfter: 5),
    busy: Problem(
      .tooManyRequests, "busy", "The service is already receiving \(most) lists or sounds. Try again in a moment.",
      retryAfter: 5))

  /// The number of bodies that are being read.
  var count: Int { slots.count }

  /// Reads a body.
  ///
  /// - Parameters:
  ///   - account: The account of the sender, whose key was checked before.
  ///   - limit: The maximum size in bytes.
  /// - Throws: ``Problem`` with 429 if the maximum number of bodies is being read; the errors of ``Call/body(upTo:)``.
  func read(_ call: Call, of account: String, upTo limit: Int) async throws -> Data {
    if call.readBody != nil { return try await call.body(upTo: limit) }
    let slot = try slots.take(account)
    defer { slot.free() }
    return try await call.body(upTo: limit)
  }
}
