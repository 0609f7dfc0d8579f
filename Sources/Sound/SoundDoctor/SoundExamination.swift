// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
import SoundFiles
public import Waveforms
import SoundHeaders

/// Reads a file and finds out everything that ``SoundDiagnosis`` needs.
public struct SoundExamination: Sendable {
  public var facts: SoundFacts

  /// The mean of the sound's channels, at the sound's own rate. It has at most the first ``longestSound`` seconds.
  /// `nil` if libsndfile cannot decode the sound.
  public var mix: Waveform?

  /// The size of the largest file that is read, in bytes: 256 MiB. For comparison, 30 s in eight channels of 32 bits at
  /// 192 kHz take 184 MB.
  public static let largestFile = 256 << 20

  /// The length in seconds of the part of a sound that is decoded and measured. A longer sound is refused in any case.
  public static let longestSound = 60

  /// Examines a file. If the file cannot be read, the facts say so; this is not an error.
  public init(of path: String) {
    let file = URL(filePath: path).standardizedFileURL
    let folder = file.deletingLastPathComponent().path(percentEncoded: false)
    switch Self.read(file.path(percentEncoded: false)) {
    case .success(let bytes): self.init(of: bytes, path: path, folder: folder)
    case .failure(let fault): self.init(facts: SoundFacts(path: path, folder: folder, content: fault.content))
    }
  }

  private init(facts: SoundFacts) { self.facts = facts }

  /// Examines the bytes of a file, such as a download before it is published.
  ///
  /// - Parameters:
  ///   - path: the name or path that the file has or will have.
  ///   - folder: the path of the folder that holds the file or will hold it.
  public init(of bytes: [UInt8], path: String, folder: String) {
    let file = HeaderBytes(bytes: bytes)
    facts = SoundFacts(path: path, folder: folder, bytes: bytes.count, content: SoundContent(file))
    guard case .sound(let container) = facts.content else { return }
    let known = SoundHeader.read(file, container)
    var header = known ?? SoundHeader(container: container, codec: Self.onlyCodec(of: file, container))
    facts.header = header
    let run = header.codec?.clippedRun ?? 3
    // If libsndfile finds no frame, the level of the sound is not known.
    guard let survey = try? SoundFiles.survey(bytes, first: Self.longestSound, clippedRun: run),
      !survey.mix.samples.isEmpty
    else { return }
    mix = survey.mix
    // Measuring takes time in proportion to the rate, and a wrong header can state any rate.
    let isMeasurable = SoundMending.sampleRates.contains(survey.sampleRate)
    facts.levels = SoundLevels(
      peak: Double(survey.peak), clippedSamples: survey.clippedSamples,
      loudnessLUFS: isMeasurable ? try? Mastering.loudness(of: survey.mix) : nil)
    // Formats such as FLAC have no header reader here. Their headers are filled in from libsndfile's results.
    guard known == nil else { return }
    (header.sampleRate, header.channels, header.frames) = (survey.sampleRate, survey.channels, survey.statedFrames)
    facts.header = header
  }

  private static func onlyCodec(of file: HeaderBytes, _ container: SoundContainer) -> SoundCodec? {
    switch container {
    case .mp3: .mp3
    case .flac: .flac
    case .ogg:
      // The first packet begins after the page's header of 28 bytes and names the encoding.
      file.holds("vorbis", at: 29) ? .vorbis : file.holds("OpusHead", at: 28) ? .opus : nil
    default: nil
    }
  }

  private struct Unavailable: Error { var content: SoundContent }

  private static func read(_ path: String) -> Result<[UInt8], Unavailable> {
    // Symbolic links are followed. Only regular files are read, because opening a pipe would block.
    let target = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
    let attributes: [FileAttributeKey: Any]
    do {
      attributes = try FileManager.default.attributesOfItem(atPath: target)
    } catch CocoaError.fileReadNoPermission {
      return .failure(Unavailable(content: .unreadable))
    } catch {
      return .failure(Unavailable(content: .missing))
    }
    switch attributes[.type] as? FileAttributeType {
    case .typeRegular?: break
    case .typeDirectory?: return .failure(Unavailable(content: .folder))
    default: return .failure(Unavailable(content: .special))
    }
    guard let handle = FileHandle(forReadingAtPath: target) else {
      return .failure(Unavailable(content: .unreadable))
    }
    defer { try? handle.close() }
    do {
      let data = try handle.read(upToCount: largestFile + 1) ?? Data()  // `nil` means that the file is empty.
      return data.count > largestFile ? .failure(Unavailable(content: .oversized)) : .success([UInt8](data))
    } catch {
      return .failure(Unavailable(content: .unreadable))
    }
  }
}
