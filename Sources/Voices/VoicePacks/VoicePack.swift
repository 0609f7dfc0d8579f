// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
public import Waveforms

/// A voice pack in use. It consists of the checked manifest and the clips, which are loaded once.
///
/// A pack can be used from any thread. A loaded pack keeps its clips when another pack takes its folder's place.
public final class VoicePack: Sendable {
  /// The version of the method that joins clips. It must be increased when equal clips with equal pauses would produce
  /// different samples.
  public static let stitchingVersion = 1

  /// The longest duration of one clip, in seconds.
  public static let maximumClipSeconds = 20

  /// The place where the clips are held.
  public enum Storage: Sendable, Hashable {
    /// The files are mapped. Only the clips that are used take up memory. If a file is changed in place, the pack
    /// changes too. If a file is truncated, the process is ended (`SIGBUS`).
    case mapped
    /// The files are read into memory. Later changes of the files do not change the pack.
    case copied
  }

  public let directory: URL
  public let manifest: PackManifest

  private let clips: [String: Clip]

  /// The clips of each token. A clip whose words differ from the token's is left out.
  let tokens: [String: PackManifest.Alternates]

  /// The phrases, longest first, by their first token. A phrase with a clip whose words differ from the phrase's is
  /// left out.
  let phrases: [String: [PackManifest.Phrase]]

  /// A clip's file, and the position of the samples in the file.
  private struct Clip: Sendable {
    var bytes: Data
    var layout: WAVFile.Layout
  }

  /// Reads the manifest and loads every clip that the manifest names. The headers of the clips are checked, but their
  /// samples are not read. `PackIntegrity` checks whether the bytes match the manifest's digests.
  ///
  /// - Parameters:
  ///   - directory: the pack's folder, whose name is the pack's id. Its path may contain links, but the files inside
  ///     must not be links.
  ///   - storage: where the clips are held.
  /// - Throws: `VoicePackError`.
  public init(directory: URL, storage: Storage = .mapped) throws(VoicePackError) {
    self.directory = directory
    let folder = try PackFolder(directory)
    manifest = try PackManifest(readingFrom: folder)
    var clips: [String: Clip] = [:]
    clips.reserveCapacity(manifest.clips.count)
    // If there are several faults, the sorted order ensures that the same fault is reported each time.
    for file in manifest.clips.keys.sorted() {
      clips[file] = try Self.clip(file, in: folder, storage, sampleRate: manifest.sampleRate)
    }
    self.clips = clips
    let manifest = manifest
    tokens = Dictionary(
      uniqueKeysWithValues: manifest.tokens.compactMap { name, clips in
        manifest.saying([name], clips).map { (name, $0) }
      })
    let phrases = manifest.phrases.compactMap { phrase in
      manifest.saying(phrase.tokens, phrase.clips).map { PackManifest.Phrase(tokens: phrase.tokens, clips: $0) }
    }
    self.phrases = Dictionary(grouping: phrases) { $0.tokens.first ?? "" }
      .mapValues { $0.sorted { $0.tokens.count > $1.tokens.count } }
  }

  /// Returns the bytes of a clip's file; `nil` when the manifest does not contain the clip.
  public func bytes(ofClip file: String) -> Data? { clips[file]?.bytes }

  /// Returns the length of a clip in ms, rounded; `nil` when the manifest does not contain the clip.
  public func milliseconds(ofClip file: String) -> Int? {
    clips[file].map { ($0.layout.sampleCount * 1000 + manifest.sampleRate / 2) / manifest.sampleRate }
  }

  /// Joins clips. Each clip gets a mark with its text. After each clip except the last there is a pause of the length
  /// that its boundary requires.
  ///
  /// - Parameters:
  ///   - clips: clips from this pack's own ``selection(for:)``.
  ///   - edgeMilliseconds: the silence at both ends of the result.
  /// - Precondition: the clips belong to this pack.
  public func stitched(_ clips: [SelectedClip], pauses: ClipPauses, edgeMilliseconds: Int = 30) -> Waveform {
    let recorded = clips.map { clip in
      guard let recorded = self.clips[clip.file] else {
        // Not from outside: a selection of this pack has only clips of its manifest, and a pack never changes.
        preconditionFailure("A pack can only join clips that it has selected itself.")
      }
      return recorded
    }
    let longest = Waveform.SpliceBuilder.longestPauseMilliseconds
    var builder = Waveform.SpliceBuilder(
      sampleRate: manifest.sampleRate, edgeMilliseconds: edgeMilliseconds, clipCount: clips.count,
      sampleCount: recorded.reduce(0) { $0 + $1.layout.sampleCount },
      pausesMilliseconds: clips.dropLast().reduce(0) { $0 + min(max(pauses.milliseconds($1.pause), 0), longest) })
    for (clip, recorded) in zip(clips, recorded) {
      recorded.layout.withSamples(in: recorded.bytes.span) { samples in
        builder.append(samples, text: clip.text, pauseMilliseconds: pauses.milliseconds(clip.pause))
      }
    }
    return builder.finish()
  }

  private static func clip(
    _ file: String, in folder: borrowing PackFolder, _ storage: Storage, sampleRate: Int
  ) throws(VoicePackError) -> Clip {
    let subject = "voice pack \(folder.id)"
    // The limit is twice the size of the longest clip, which leaves room for comments.
    let maximumBytes = maximumClipSeconds * sampleRate * 4
    let bytes: Data
    do throws(PackFolder.Failure) {
      bytes = try folder.contents(file, storage, maximumBytes: maximumBytes)
    } catch {
      throw VoicePackError(error, .clipUnreadable, subject, file, maximumBytes: maximumBytes)
    }
    let layout: WAVFile.Layout
    do throws(WAVFileError) {
      layout = try WAVFile.layout(of: bytes.span)
    } catch {
      throw VoicePackError(
        .clipInvalid, subject, "\(file) is not a mono PCM16 WAV file (at byte \(error.offset): \(error.reason))",
        remedy: "make the pack again")
    }
    let problem: String? =
      if layout.sampleRate != sampleRate {
        "has a sample rate of \(layout.sampleRate) Hz, but the pack has \(sampleRate) Hz"
      } else if layout.sampleCount == 0 {
        "is empty"
      } else if layout.sampleCount > maximumClipSeconds * sampleRate {
        "is longer than \(maximumClipSeconds) s"
      } else {
        nil
      }
    if let problem {
      throw VoicePackError(.clipInvalid, subject, "\(file) \(problem)", remedy: "record it again")
    }
    return Clip(bytes: bytes, layout: layout)
  }
}

extension PackManifest {
  /// Returns the clips that say the tokens' words; `nil` when the plain clip says other words.
  fileprivate func saying(_ tokens: [String], _ alternates: Alternates) -> Alternates? {
    func says(_ file: String) -> Bool { clips[file]?.says(tokens) ?? false }
    guard says(alternates.plain) else { return nil }
    return Alternates(
      plain: alternates.plain, rising: alternates.rising.flatMap { says($0) ? $0 : nil },
      final: alternates.final.flatMap { says($0) ? $0 : nil })
  }
}
