// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Waveforms

import Resampling

/// A type that transcribes sounds: a speech recogniser, or a test double.
public protocol SpeechRecognizing: Sendable {
  /// Returns the recognised words of each sound, in lower case and separated by spaces. For a sound that was not
  /// understood the text is empty.
  ///
  /// - Parameter grammar: the sentences that may be spoken, in the JSpeech Grammar Format.
  func words(in sounds: [Waveform], grammar: String) throws(PackMakingError) -> [String]
}

/// CMU PocketSphinx with its model of American English, run as a separate program.
public struct PocketSphinx: SpeechRecognizing {
  /// The Debian packages that contain the program and the model.
  public static let packages = "pocketsphinx and pocketsphinx-en-us"

  private let program: URL
  private let model: URL

  /// The sample rate that the model expects, in Hz.
  private static let sampleRate = 16_000

  /// The length in ms of the quiet room noise that is added before and after each sound.
  private static let lead = 250

  /// The peak of the quiet room noise, where 32,767 is full scale: about -50 dBFS. The noise is needed because the
  /// model was trained with recordings, which contain no digital silence.
  private static let noise = 173

  /// Finds the program and the model.
  ///
  /// - Returns: `nil` when the program or the model is not installed.
  public init?(environment: [String: String] = ProcessInfo.processInfo.environment, model: URL? = nil) {
    let folders = (environment["PATH"] ?? "/usr/bin").split(separator: ":")
    let program = folders.map { URL(filePath: String($0)).appending(path: "pocketsphinx_batch") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
    let model = model ?? URL(filePath: "/usr/share/pocketsphinx/model/en-us", directoryHint: .isDirectory)
    let dictionary = model.appending(path: "cmudict-en-us.dict").path(percentEncoded: false)
    guard let program, FileManager.default.fileExists(atPath: dictionary) else { return nil }
    (self.program, self.model) = (program, model)
  }

  public func words(in sounds: [Waveform], grammar: String) throws(PackMakingError) -> [String] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(grammar.utf8).write(to: folder.appending(path: "grammar.jsgf"))
      for (index, sound) in sounds.enumerated() {
        try Data(WAVFile.encode(try Self.inARoom(sound))).write(to: folder.appending(path: "\(index).wav"))
      }
      let names = sounds.indices.map { "\($0)\n" }.joined()
      try Data(names.utf8).write(to: folder.appending(path: "sounds"))
      let process = Process()
      process.executableURL = program
      process.currentDirectoryURL = folder
      process.arguments = [
        "-hmm", model.appending(path: "en-us").path(percentEncoded: false),
        "-dict", model.appending(path: "cmudict-en-us.dict").path(percentEncoded: false),
        "-jsgf", "grammar.jsgf", "-ctl", "sounds", "-cepdir", ".", "-cepext", ".wav", "-adcin", "yes",
        "-adchdr", "44", "-hyp", "words",
        // All sentences of the grammar are equally likely. Clean sounds need no noise removal.
        "-lw", "1", "-remove_noise", "no", "-remove_silence", "no",
      ]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw Self.failure("ended with status \(process.terminationStatus)")
      }
      let lines = try String(contentsOf: folder.appending(path: "words"), encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      guard lines.count == sounds.count else { throw Self.failure("gave \(lines.count) answers") }
      // Each line ends with the number of the sound, and a score in parentheses.
      return lines.map { line in
        String(line.prefix { $0 != "(" }).split(separator: " ").joined(separator: " ").lowercased()
      }
    } catch let error as PackMakingError {
      throw error
    } catch {
      throw Self.failure("could not be run (\(error.localizedDescription))")
    }
  }

  /// Returns a sound in the form that the model expects: at the model's sample rate, with a moment of room noise before
  /// and after. The result is the same each time.
  private static func inARoom(_ sound: Waveform) throws(ResamplingError) -> Waveform {
    let samples = try Resampler.convert(sound.samples, from: sound.sampleRate, to: sampleRate)
    let silence = [Int16](repeating: 0, count: lead * sampleRate / 1000)
    var random = FixedRandom(seed: 1)
    let range = Int32(-noise)...Int32(noise)
    let noisy = (silence + samples + silence).map {
      Int16(clamping: Int32($0) + Int32.random(in: range, using: &random))
    }
    return Waveform(samples: noisy, sampleRate: sampleRate)
  }

  private static func failure(_ problem: String) -> PackMakingError {
    PackMakingError(
      .recognizerFailed, "The recogniser pocketsphinx_batch", problem,
      remedy: "install the Debian packages \(packages) again, and check the space in the temporary folder")
  }
}

/// A generator that produces the same pseudorandom numbers each time. It is a linear congruential generator whose upper
/// bits are used.
struct FixedRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    func half() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 32
    }
    return half() << 32 | half()
  }
}
