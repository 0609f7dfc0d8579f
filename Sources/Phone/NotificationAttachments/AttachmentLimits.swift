// SPDX-License-Identifier: Apache-2.0

/// What a download accepts: families of formats, each with the maximum size of a file in bytes.
public struct AttachmentLimits: Sendable, Hashable {
  /// The maximum size in bytes by family. A family without a size is refused.
  public var maximumBytes: [AttachmentKind.Family: Int]

  /// - Parameter maximumBytes: Sizes beyond those of ``AttachmentKind/Family/maximumBytes`` count as these.
  public init(_ maximumBytes: [AttachmentKind.Family: Int]) {
    self.maximumBytes = maximumBytes
    for (family, size) in maximumBytes { self.maximumBytes[family] = min(size, family.maximumBytes) }
  }

  /// What iOS accepts as an attachment.
  public static let attachment = AttachmentLimits(
    Dictionary(uniqueKeysWithValues: AttachmentKind.Family.allCases.map { ($0, $0.maximumBytes) }))

  /// A picture of a person, of at most 1 MB. Apple's API takes it as data, so it is held in memory.
  public static let portrait = AttachmentLimits([.image: 1_000_000])

  /// The family with the largest maximum size, and this size; nil if everything is refused.
  var largest: (key: AttachmentKind.Family, value: Int)? { maximumBytes.max { $0.value < $1.value } }
}
