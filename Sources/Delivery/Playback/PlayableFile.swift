// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Mastering
import Resampling
import SoundFiles
public import Waveforms

/// The reader of sound files that are played unchanged: recordings of the user, and chimes.
public enum PlayableFile {
  /// The size of the largest accepted file, in bytes. 10 minutes of stereo at 192 kHz and 16 bits are 461 MB.
  static let largest = 512 << 20

  /// Reads a file of at most 10 minutes in any format that libsndfile can read. Mixes its channels in equal parts.
  ///
  /// - Throws: ``PlayableFileError``.
  public static func waveform(of file: URL) throws(PlayableFileError) -> Waveform {
    let path = file.path(percentEncoded: false)
    let bytes: [UInt8]
    // Only regular files are read: opening a pipe would block, or consume the data of another reader.
    var information = stat()
    if stat(path, &information) == 0, information.st_mode & S_IFMT != S_IFREG {
      let isFolder = information.st_mode & S_IFMT == S_IFDIR
      throw PlayableFileError(
        .unreadable, path, isFolder ? "is a folder" : "is not a regular file", remedy: "give a sound file")
    }
    do {
      let handle = try FileHandle(forReadingFrom: file)
      defer { try? handle.close() }
      bytes = [UInt8](try handle.read(upToCount: largest + 1) ?? Data())
    } catch {
      let isThere = FileManager.default.fileExists(atPath: path)
      throw isThere
        ? PlayableFileError(.unreadable, path, "cannot be read", remedy: "check that this user may read it")
        : .missing(path)
    }
    guard bytes.count <= largest else {
      throw PlayableFileError(.tooLong, path, "is larger than \(largest >> 20) MiB", remedy: "give a shorter sound")
    }
    return try decoded(bytes, path)
  }

  private static func decoded(
    _ bytes: [UInt8], _ path: String, longestSeconds: Int = 600
  ) throws(PlayableFileError) -> Waveform {
    do {
      let sound = try SoundFiles.mix(bytes, longestSeconds: longestSeconds)
      guard !sound.samples.isEmpty else {
        throw PlayableFileError(
          .malformed, path, "contains no sound: its header states 0 frames",
          remedy: "look for a remedy with crier sounds check, or export it again")
      }
      guard Resampler.supportedRates.contains(sound.sampleRate) else {
        throw PlayableFileError(
          .malformed, path, "has a sample rate of \(sound.sampleRate) Hz", remedy: "give a file of 8,000 to 192,000 Hz")
      }
      return sound
    } catch let error as PlayableFileError {
      throw error
    } catch {
      throw PlayableFileError(
        .malformed, path, "is not a complete sound file of at most 10 minutes",
        remedy: "look for a remedy with crier sounds check, or give a file that libsndfile reads, such as a WAV file")
    }
  }

  /// The longest duration of a chime before it is mastered, in ms.
  public static let longestChimeMilliseconds = 10_000

  /// Reads a chime of at most 10 s. The chime is converted to the sample rate of clips and mastered to their loudness.
  ///
  /// - Throws: ``PlayableFileError``.
  public static func chime(of file: URL) throws(PlayableFileError) -> Waveform {
    try chime(try waveform(of: file), file.path(percentEncoded: false))
  }

  /// Reads a chime from the bytes of a sound file; see ``chime(of:)``.
  ///
  /// - Parameter name: The name of the sound for errors.
  /// - Throws: ``PlayableFileError``.
  public static func chime(_ bytes: [UInt8], named name: String) throws(PlayableFileError) -> Waveform {
    // A short file can claim to contain a long sound, so not much more than 10 s is decoded.
    try chime(try decoded(bytes, name, longestSeconds: 60), name)
  }

  private static func chime(_ sound: Waveform, _ path: String) throws(PlayableFileError) -> Waveform {
    guard sound.durationMilliseconds <= longestChimeMilliseconds else {
      throw PlayableFileError(.tooLong, path, "is longer than 10 s", remedy: "give a shorter tone")
    }
    do {
      let rate = Mastering.sampleRate
      let samples = try Resampler.convert(sound.samples, from: sound.sampleRate, to: rate)
      return try Mastering().leveled(Waveform(samples: samples, sampleRate: rate))
    } catch let error as MasteringError {
      throw PlayableFileError(
        .malformed, path, "cannot be brought to the loudness of an announcement (\(error.code.rawValue))",
        remedy: "give an audible tone")
    } catch {
      throw PlayableFileError(.malformed, path, "cannot be converted (\(error))", remedy: "give a tone at 44,100 Hz")
    }
  }
}

/// The error for a file that cannot be played.
public struct PlayableFileError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    case missing = "file_missing"
    case unreadable = "file_unreadable"
    case malformed = "file_malformed"
    case tooLong = "file_too_long"
  }

  public var code: Code
  public var path: String
  /// The problem with the file.
  public var problem: String
  public var remedy: String

  init(_ code: Code, _ path: String, _ problem: String, remedy: String) {
    self.code = code
    self.path = path
    self.problem = problem
    self.remedy = remedy
  }

  /// - Parameter path: The path as the user gave it.
  public static func missing(_ path: String) -> PlayableFileError {
    PlayableFileError(.missing, path, "does not exist", remedy: "give an existing file")
  }

  public var description: String { "\(path): \(problem); \(remedy)." }
}
