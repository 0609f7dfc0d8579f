// SPDX-License-Identifier: Apache-2.0

/// What a clip that does not stand yet needs before it is made.
///
/// Whoever makes clips for others limits their work with it. A clip that stands already is found without it.
public struct NewClipPermit: Sendable {
  /// Called before the clip is made. It may wait; it throws to refuse the clip.
  public let begin: @Sendable () async throws -> Void
  /// Called once for each `begin` that returned, with the clip's size in bytes; nil when it was not made.
  public let end: @Sendable (_ bytes: Int?) -> Void

  /// A permit that is always given.
  public static let always = NewClipPermit(begin: {}, end: { _ in })

  public init(begin: @escaping @Sendable () async throws -> Void, end: @escaping @Sendable (_ bytes: Int?) -> Void) {
    self.begin = begin
    self.end = end
  }
}
