// SPDX-License-Identifier: Apache-2.0

/// The warnings about the sound of recordings: one for each kind, with the number of the recordings concerned.
struct SoundWarnings {
  /// The level of the voice above the noise, in dB, below which a recording counts as noisy.
  static let noisyVoiceToNoise = 30.0

  /// The sample rate in Hz below which a recording lacks the high sounds that tell s from f. Telephones use 8,000 Hz.
  static let lowestSampleRate = 16_000

  /// The longest silence in ms inside a recording of one row. A longer silence probably separates the words from
  /// another sound, such as a cough.
  static let longestPauseMilliseconds = 500

  /// The largest number of recordings that a warning names.
  private static let mostNames = 5

  /// Whether a program made the recordings. In that case, advice for a person who records is left out.
  private let isProgram: Bool

  private var total = 0
  private var clipped: [String] = []
  private var noisy: [String] = []
  private var narrow: [String] = []
  private var rates: Set<Int> = []
  private var divided: [String] = []

  init(isProgram: Bool = false) { self.isProgram = isProgram }

  /// Adds a recording.
  ///
  /// - Parameter name: the name of the file, or the number and text of the row.
  mutating func add(_ report: RecordingReport, _ name: String) {
    total += 1
    if report.clippedSamples > 0 { clipped.append(name) }
    if report.voiceToNoiseDB < Self.noisyVoiceToNoise { noisy.append(name) }
    if report.sampleRate < Self.lowestSampleRate {
      narrow.append(name)
      rates.insert(report.sampleRate)
    }
    if report.longestPauseMilliseconds > Self.longestPauseMilliseconds { divided.append(name) }
  }

  var warnings: [ImportWarning] {
    let rates = rates.sorted().map { "\($0) Hz" }.joined(separator: ", ")
    return [
      warning(
        .clippedRecording, clipped, "clipped",
        isProgram ? "let the program speak at a lower volume" : "record again at a lower level"),
      warning(
        .noisyRecording, noisy, "less than \(Int(Self.noisyVoiceToNoise)) dB above the noise",
        isProgram ? "choose another voice of the program" : "record closer to the microphone"),
      warning(
        .lowSampleRate, narrow, "at \(rates), which sounds like a telephone",
        isProgram
          ? "choose a voice or an option of the program that gives at least \(Self.lowestSampleRate) Hz"
          : "record at 48000 Hz, or at least \(Self.lowestSampleRate) Hz"),
      warning(
        .silenceInside, divided, "interrupted by a silence of more than \(Self.longestPauseMilliseconds) ms",
        isProgram
          ? "listen to them, and check that nothing is missing"
          : "listen for a cough or a second word, and record again without it"),
    ].compactMap(\.self)
  }

  private func warning(
    _ code: ImportWarning.Code, _ names: [String], _ problem: String, _ remedy: String
  ) -> ImportWarning? {
    guard !names.isEmpty else { return nil }
    let shown = names.prefix(Self.mostNames).joined(separator: ", ")
    let more = names.count > Self.mostNames ? " and \(names.count - Self.mostNames) more" : ""
    let count = "\(names.count) of \(total) recordings \(names.count == 1 ? "is" : "are")"
    return ImportWarning(code: code, subject: "\(count) \(problem)", problem: "\(remedy): \(shown)\(more)")
  }
}

extension RecordingReport {
  /// Warnings about the sound of a single recording for the person who made it, one sentence each.
  public var warnings: [String] {
    var warnings: [String] = []
    if clippedSamples > 0 { warnings.append("The recording is clipped. Record it again at a lower level.") }
    if voiceToNoiseDB < SoundWarnings.noisyVoiceToNoise {
      warnings.append(
        "The voice is less than \(Int(SoundWarnings.noisyVoiceToNoise)) dB above the noise. Record closer to the "
          + "microphone.")
    }
    if sampleRate < SoundWarnings.lowestSampleRate {
      warnings.append(
        "The recording is at \(sampleRate) Hz and sounds like a telephone. Record at 48000 Hz, or at least "
          + "\(SoundWarnings.lowestSampleRate) Hz.")
    }
    if longestPauseMilliseconds > SoundWarnings.longestPauseMilliseconds {
      warnings.append(
        "The recording is interrupted by a silence of more than \(SoundWarnings.longestPauseMilliseconds) ms. Listen "
          + "for a cough or a second word, and record again without it.")
    }
    return warnings
  }
}
