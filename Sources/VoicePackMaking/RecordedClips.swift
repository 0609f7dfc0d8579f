// SPDX-License-Identifier: Apache-2.0

public import VoicePacks
import Waveforms

/// The clips of an existing pack, in a form in which they can be compared.
public struct RecordedClips: Sendable, Hashable {
  /// The clips in the order of their tokens, and each file once.
  public var clips: [PackClip] = []

  /// For each clip, its file.
  public var files: [String] = []

  /// Reads the clips of a pack. Files that are not WAV files are left out.
  public init(_ pack: VoicePack) {
    let manifest = pack.manifest
    let entries =
      manifest.tokens.sorted { $0.key < $1.key }.map { ([$0.key], $0.value) }
      + manifest.phrases.map { ($0.tokens, $0.clips) }
    var isRead: Set<String> = []
    for (tokens, alternates) in entries {
      let places: [(String?, ClipPosition)] = [
        (alternates.plain, .plain), (alternates.rising, .rising), (alternates.final, .final),
      ]
      for case (let file?, let position) in places where isRead.insert(file).inserted {
        guard let text = manifest.clips[file]?.text, let bytes = pack.bytes(ofClip: file),
          let waveform = try? WAVFile.decode([UInt8](bytes)).waveform
        else { continue }
        clips.append(PackClip(tokens: tokens, position: position, text: text, waveform: waveform))
        files.append(file)
      }
    }
  }
}
