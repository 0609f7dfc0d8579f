// SPDX-License-Identifier: Apache-2.0

public import SoundHeaders

/// The facts that were found about a file. ``SoundDiagnosis`` decides by these facts alone.
public struct SoundFacts: Sendable, Hashable {
  /// The file's path as it was given, for messages and commands.
  public var path: String

  /// The absolute path of the folder that holds the file.
  public var folder: String

  /// The size of the file in bytes; `nil` when it was not read.
  public var bytes: Int?

  public var content: SoundContent

  /// The values that the file's header states; `nil` when the file is not a sound.
  public var header: SoundHeader?

  /// The result of decoding the sound; `nil` when libsndfile cannot decode it.
  public var levels: SoundLevels?

  /// The file's name with its extension.
  public var name: String { String(path.split(separator: "/").last ?? "") }
}

/// The measured levels of a sound.
public struct SoundLevels: Sendable, Hashable {
  /// The highest magnitude of a sample in any channel, where 1 is full scale.
  public var peak: Double

  /// The number of clipped samples: those in runs of equal samples near full scale.
  public var clippedSamples = 0

  /// The integrated loudness of the mean of the channels, in LUFS; `nil` when it cannot be measured, for example for
  /// silence.
  public var loudnessLUFS: Double?
}
