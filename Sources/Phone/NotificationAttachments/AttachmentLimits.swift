// SPDX-License-Identifier: Apache-2.0

/// The limits of a download: the accepted families of formats, each with the maximum size of a file in bytes.
public struct AttachmentLimits: Sendable, Hashable {
  /// The maximum size in bytes for each family. Files of a family that is missing here are refused.
  public var maximumBytes: [AttachmentKind.Family: Int]

  /// - Parameter maximumBytes: The sizes. A size above ``AttachmentKind/Family/maximumBytes`` is reduced to that value.
  public init(_ maximumBytes: [AttachmentKind.Family: Int]) {
    self.maximumBytes = maximumBytes
    for (family, size) in maximumBytes { self.maximumBytes[family] = min(size, family.maximumBytes) }
  }

  /// The limits of iOS for attachments.
  public static let attachment = AttachmentLimits(
    Dictionary(uniqueKeysWithValues: AttachmentKind.Family.allCases.map { ($0, $0.maximumBytes) }))

  /// The limit for a picture of a person: 1 MB. Apple's API takes the picture as data, so it is held in memory.
  public static let portrait = AttachmentLimits([.image: 1_000_000])

  /// The family with the largest maximum size, and this size; nil if everything is refused.
  var largest: (key: AttachmentKind.Family, value: Int)? { maximumBytes.max { $0.value < $1.value } }
}
