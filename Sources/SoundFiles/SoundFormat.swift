// SPDX-License-Identifier: Apache-2.0

/// What kind of file a sound is written as.
public struct SoundFormat: Sendable, Hashable {
  public enum Container: String, Sendable, Hashable, CaseIterable {
    case wav, aiff, caf
  }

  /// How the samples are stored: linear, by ITU-T G.711 (8 bits), or by IMA ADPCM (4 bits).
  public enum Encoding: String, Sendable, Hashable, CaseIterable {
    case pcm16, ulaw, alaw, ima4
  }

  public var container: Container
  public var encoding: Encoding

  public init(container: Container, encoding: Encoding) {
    self.container = container
    self.encoding = encoding
  }

  /// The ending of a file's name, without the dot.
  public var fileExtension: String { container.rawValue }

  /// The encodings that can be written into a container, by libsndfile 1.2: all, but for IMA ADPCM in a CAF.
  public static func encodings(of container: Container) -> [Encoding] {
    Encoding.allCases.filter { container != .caf || $0 != .ima4 }
  }
}
