// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Mastering
import Resampling
import SoundFiles
import Waveforms

/// Makes a playable copy of a sound: mono WAV of 16 bits at 22,050 Hz, as loud as Crier's clips.
public enum SoundMending {
  /// The greatest length of a copy in ms. A longer sound is cut and faded out.
  public static let longestMilliseconds = 29_500

  /// The length of the fade at the end of a sound that is cut, in ms.
  static let fadeMilliseconds = 500

  /// The sample rates that can be converted, in Hz.
  static let sampleRates = Resampler.supportedRates

  /// A copy that was written.
  public struct Copy: Sendable, Hashable {
    public var file: URL
    /// Whether the end of the sound was cut.
    public var isCut: Bool
  }

  /// Writes a mended copy beside a file: `tone.mp3` gets `tone-fixed.wav`.
  ///
  /// - Throws: ``SoundMendingError``. No file is then changed or left behind.
  public static func writeCopy(of examination: SoundExamination) throws(SoundMendingError) -> Copy {
    let path = examination.facts.path
    guard SoundDiagnosis.isMendable(examination.facts), let mix = examination.mix else {
      let remedy = SoundDiagnosis(of: examination.facts).problems.first?.remedy ?? ShellCommand(path: path).convert()
      let reason =
        examination.facts.header == nil
        ? "there is no sound that can be read" : "the sound cannot be decoded, or nothing in it can be heard"
      throw SoundMendingError(.notMendable, path, reason, remedy: remedy)
    }
    let (sound, isCut): (Waveform, Bool)
    do {
      (sound, isCut) = try mended(mix, isLonger: examination.isLongerThanMix)
    } catch {
      throw SoundMendingError(.notMendable, path, "\(error)", remedy: ShellCommand(path: path).convert())
    }
    let file = URL(filePath: ShellCommand.copy(of: path)).absoluteURL
    do {
      try Data(WAVFile.encode(sound)).write(to: file, options: .withoutOverwriting)
    } catch CocoaError.fileWriteFileExists {
      let name = file.lastPathComponent
      throw SoundMendingError(
        .exists, path, "\(name) exists already and is not replaced", remedy: "Rename or remove \(name).")
    } catch {
      // No other file has this name, so a file with it is the incomplete copy.
      try? FileManager.default.removeItem(at: file)
      throw SoundMendingError(
        .notWritten, path, "\(file.path(percentEncoded: false)) cannot be written",
        remedy: "Check the folder's permissions and the space on the disk.")
    }
    return Copy(file: file, isCut: isCut)
  }

  /// Returns the sound of a copy, and whether its end was cut.
  static func mended(_ mix: Waveform, isLonger: Bool) throws -> (sound: Waveform, isCut: Bool) {
    let rate = Mastering.sampleRate
    let samples = try Resampler.convert(mix.samples, from: mix.sampleRate, to: rate)
    // Mastering also trims silence at both ends, which may make the sound short enough.
    let whole = try Mastering().master(Waveform(samples: samples, sampleRate: rate)).waveform
    guard isLonger || whole.durationMilliseconds > longestMilliseconds else { return (whole, false) }
    // Mastering the cut sound can add up to 60 ms of silence.
    let end = min(whole.samples.count, (longestMilliseconds - 60) * rate / 1000)
    let fade = fadeMilliseconds * rate / 1000
    var cut = Array(whole.samples[..<end])
    for index in max(0, end - fade)..<end {
      cut[index] = Int16((Double(cut[index]) * Double(end - index) / Double(fade)).rounded(.toNearestOrEven))
    }
    return (try Mastering().master(Waveform(samples: cut, sampleRate: rate)).waveform, true)
  }
}

extension SoundExamination {
  /// Whether the sound is longer than the part of it in ``mix``.
  var isLongerThanMix: Bool {
    guard let mix else { return false }
    return mix.samples.count >= Self.longestSound * mix.sampleRate
  }
}

/// The reason why a mended copy of a sound could not be made.
public struct SoundMendingError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The sound cannot be decoded, or nothing in it can be heard.
    case notMendable = "not_mendable"
    /// There is a file with the name of the copy.
    case exists = "copy_exists"
    case notWritten = "copy_not_written"
  }

  public var code: Code
  /// The path of the original file.
  public var path: String
  public var reason: String
  public var remedy: String

  init(_ code: Code, _ path: String, _ reason: String, remedy: String) {
    self.code = code
    self.path = path
    self.reason = reason
    self.remedy = remedy
  }

  public var description: String { "\(path): no copy was made: \(reason). \(remedy)" }
}
