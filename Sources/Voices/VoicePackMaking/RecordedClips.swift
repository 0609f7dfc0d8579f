// SPDX-License-Identifier: Apache-2.0

public import VoicePacks
import Waveforms

/// The clips of an existing pack, in a form in which they can be compared. They are the clips of ``ListedClip``, with
/// their sounds.
public struct RecordedClips: Sendable, Hashable {
  /// The clips: first the words in the order of their tokens, and then the phrases. Each file occurs once.
  public var clips: [PackClip] = []

  /// The name of each clip's file, in the order of ``clips``.
  public var files: [String] = []

  /// Reads the clips of a pack. Files that are not WAV files are left out.
  public init(_ pack: VoicePack) {
    for listed in ListedClip.clips(of: pack.manifest, vocabulary: nil) {
      guard let bytes = pack.bytes(ofClip: listed.file),
        let waveform = try? WAVFile.decode([UInt8](bytes)).waveform
      else { continue }
      clips.append(
        PackClip(tokens: listed.tokens, position: listed.position, text: listed.text, waveform: waveform))
      files.append(listed.file)
    }
  }
}
