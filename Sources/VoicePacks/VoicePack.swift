// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
public import Waveforms

/// A voice pack in use: its manifest, checked, and its clips, mapped into memory once.
///
/// Safe to use from any thread. A pack's files are never changed in place: a new pack is written beside the old one and
/// renamed into its place. A pack in use keeps the files it was loaded from, and a new process reads the new ones.
/// Cutting a file short while it is in use ends the process (`SIGBUS`), as with everything that is mapped.
public final class VoicePack: Sendable {
  /// Rises when the same clips with the same pauses would give other samples.
  public static let stitchingVersion = 1

  /// In seconds, of one clip.
  public static let maximumClipSeconds = 20

  public let directory: URL
  public let manifest: PackManifest

  private let clips: [String: Clip]

  /// What is said for each token; clips that say other words are left out.
  let tokens: [String: PackManifest.Alternates]

  /// By first token, the longest first; the same is left out.
  let phrases: [String: [PackManifest.Phrase]]

  /// A clip's file and where its samples lie in it.
  private struct Clip: Sendable {
    var bytes: Data
    var layout: WAVFile.Layout
  }

  /// Reads the manifest and maps every clip that it names. Headers are checked, samples are not read; whether the bytes
  /// are those that the manifest promises is `PackIntegrity`'s to say.
  ///
  /// - Parameter directory: the pack's folder, named by its id. It may be reached through links; no file in it
  ///   may be one.
  /// - Throws: `VoicePackError`.
  public init(directory: URL) throws(VoicePackError) {
    self.directory = directory
    let folder = try PackFolder(directory)
    manifest = try PackManifest(readingFrom: folder)
    var clips: [String: Clip] = [:]
    clips.reserveCapacity(manifest.clips.count)
    // In order, so that of several faults the same is reported each time.
    for file in manifest.clips.keys.sorted() {
      clips[file] = try Self.clip(file, in: folder, sampleRate: manifest.sampleRate)
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

  /// The bytes of a clip's file, mapped; `nil` when the manifest has no such clip.
  public func bytes(ofClip file: String) -> Data? { clips[file]?.bytes }

  /// Joins clips: each is followed by the pause that its place asks for, the last by none. Each has a mark with its
  /// text.
  ///
  /// - Parameters:
  ///   - clips: of this pack's own ``selection(for:)``.
  ///   - edgeMilliseconds: the silence at both ends of the whole.
  /// - Precondition: this pack has the clips.
  public func stitched(_ clips: [SelectedClip], pauses: ClipPauses, edgeMilliseconds: Int = 30) -> Waveform {
    let recorded = clips.map { clip in
      guard let recorded = self.clips[clip.file] else {
        preconditionFailure("A pack stitches the clips that it has selected itself.")
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
    _ file: String, in folder: borrowing PackFolder, sampleRate: Int
  ) throws(VoicePackError) -> Clip {
    let subject = "voice pack \(folder.id)"
    // Twice the samples of the longest clip leave room for comments.
    let maximumBytes = maximumClipSeconds * sampleRate * 4
    let bytes: Data
    do throws(PackFolder.Failure) {
      bytes = try folder.mapped(file, maximumBytes: maximumBytes)
    } catch {
      throw VoicePackError(error, .clipUnreadable, subject, file, maximumBytes: maximumBytes)
    }
    let layout: WAVFile.Layout
    do throws(WAVFileError) {
      layout = try WAVFile.layout(of: bytes.span)
    } catch {
      throw VoicePackError(
        .clipInvalid, subject, "\(file) is no mono PCM16 WAV file (at byte \(error.offset): \(error.reason))",
        remedy: "make the pack again")
    }
    let problem: String? =
      if layout.sampleRate != sampleRate {
        "has \(layout.sampleRate) Hz, and the pack \(sampleRate) Hz"
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
  /// The alternates that say the tokens' words; `nil` when the plain one does not.
  fileprivate func saying(_ tokens: [String], _ alternates: Alternates) -> Alternates? {
    func says(_ file: String) -> Bool { clips[file]?.says(tokens) ?? false }
    guard says(alternates.plain) else { return nil }
    return Alternates(
      plain: alternates.plain, rising: alternates.rising.flatMap { says($0) ? $0 : nil },
      final: alternates.final.flatMap { says($0) ? $0 : nil })
  }
}
