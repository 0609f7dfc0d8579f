// SPDX-License-Identifier: Apache-2.0

public struct UTType: Hashable, Sendable {
  public static var folder: UTType { fatalError() }
  public static var audio: UTType { fatalError() }
  public static var wav: UTType { fatalError() }
  public init?(filenameExtension: String) { fatalError() }
}
