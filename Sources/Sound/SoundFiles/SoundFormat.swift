// SPDX-License-Identifier: Apache-2.0

/// The file format of a sound.
public struct SoundFormat: Sendable, Hashable {
  public enum Container: String, Sendable, Hashable, CaseIterable {
    case wav, aiff, caf
  }

  /// The encoding of the samples: linear, ITU-T G.711 (8 bits), or IMA ADPCM (4 bits).
  public enum Encoding: String, Sendable, Hashable, CaseIterable {
    case pcm16, ulaw, alaw, ima4
  }

  public var container: Container
  public var encoding: Encoding

  public init(container: Container, encoding: Encoding) {
    self.container = container
    self.encoding = encoding
  }

  /// The file name extension, without the dot.
  public var fileExtension: String { container.rawValue }

  /// Returns the encodings that libsndfile 1.2 can write into a container. These are all encodings, except IMA ADPCM in
  /// a CAF.
  public static func encodings(of container: Container) -> [Encoding] {
    Encoding.allCases.filter { container != .caf || $0 != .ima4 }
  }
}
