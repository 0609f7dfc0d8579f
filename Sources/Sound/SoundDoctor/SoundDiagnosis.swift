// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundHeaders
import SoundLibrary
import TextFormats

/// The decision whether iOS would play a file as the sound of a notification, and what is wrong with the file.
///
/// The decision follows Apple's page on `UNNotificationSound`: linear PCM, MA4 (IMA ADPCM), µ-law or A-law in an AIFF,
/// WAV or CAF file, shorter than 30 seconds. Some versions of iOS may play other formats, but Apple does not promise
/// this, so those formats count as not playable.
public struct SoundDiagnosis: Sendable, Hashable {
  public let facts: SoundFacts

  /// The problems: errors first.
  public let problems: [SoundProblem]

  /// Whether iOS plays the file. Warnings do not affect the result.
  public var isPlayable: Bool { problems.allSatisfy { $0.severity != .error } }

  /// Whether `--fix` can make a copy of the sound.
  public var isMendable: Bool { Self.isMendable(facts) }

  /// The limit in seconds. A sound must be shorter than this.
  public static let limit = 30

  /// The range of loudness that gets no warning, in LUFS.
  ///
  /// Crier's clips have -16 LUFS, and its tones have -12 LUFS, because a tone must be noticed by somebody who is not
  /// listening. The range reaches from 3 LU below the clips to 1 LU above the tones. Tones are made with a tolerance of
  /// 1 LU.
  public static let loudness = -19.0...(-11.0)

  /// The lowest peak of an audible sound, 60 dB below full scale. `Mastering` uses the same limit.
  static let quietestPeak = 33.0 / 32_768

  public init(of facts: SoundFacts) {
    self.facts = facts
    var finder = ProblemFinder(facts)
    let problems = finder.find()
    self.problems = problems.filter { $0.severity == .error } + problems.filter { $0.severity == .warning }
  }

  static func isMendable(_ facts: SoundFacts) -> Bool {
    guard let levels = facts.levels, levels.peak >= quietestPeak, let rate = facts.header?.sampleRate else {
      return false
    }
    return SoundMending.sampleRates.contains(rate)
  }
}

/// Finds the problems of one file.
private struct ProblemFinder {
  private let facts: SoundFacts
  private let command: ShellCommand
  private var problems: [SoundProblem] = []

  init(_ facts: SoundFacts) {
    self.facts = facts
    command = ShellCommand(path: facts.path)
  }

  /// The command that makes a playable copy.
  private var mend: String { SoundDiagnosis.isMendable(facts) ? command.fix : command.convert() }

  private mutating func add(_ code: SoundProblem.Code, _ message: String, _ remedy: String? = nil) {
    problems.append(SoundProblem(code, message, remedy: remedy ?? mend))
  }

  mutating func find() -> [SoundProblem] {
    guard case .sound(let container) = facts.content else {
      let (code, message, remedy) = fileProblem
      add(code, message, remedy)
      return problems
    }
    let isSupported = checkFormat(container)
    if isSupported { checkHeader() }
    checkLength()
    checkLevels()
    // A file in another format gets a new name when it is converted.
    if container.isDocumented {
      checkExtension(container)
      checkName(container)
    }
    checkFolder()
    return problems
  }

  private var fileProblem: (SoundProblem.Code, String, String) {
    let again = "Export or download the sound again."
    let quoted = Shell.path(facts.path)
    return switch facts.content {
    case .missing: (.missing, "There is no such file.", "Check the name and the folder.")
    case .folder: (.folder, "This is a folder.", "Name the files in it: crier sounds check \(quoted)/*")
    case .special: (.notAFile, "This is a pipe, a socket or a device.", "Name a sound file.")
    case .unreadable: (.unreadable, "This user may not read the file.", "chmod u+r \(quoted)")
    case .oversized:
      (
        .fileTooLarge, "The file has more than \(SoundExamination.largestFile >> 20) MiB, which no short sound needs.",
        command.convert()
      )
    case .empty: (.emptyFile, "The file is empty: it has 0 bytes.", again)
    case .zeros: (.onlyZeroBytes, "The file has only zero bytes, for example after a failed download.", again)
    case .text: (.textNotSound, "The file is a text.", again)
    case .html:
      (.htmlNotSound, "The file is a web page, for example a server's error page.", again)
    case .unknown, .sound: (.unknownContent, "The content is not of a known kind of sound file.", again)
    }
  }

  /// - Returns: Whether container and encoding are among those that Apple lists.
  private mutating func checkFormat(_ container: SoundContainer) -> Bool {
    let list = "iOS documents WAV, AIFF and CAF"
    switch container {
    case .wav, .aiff, .caf: return checkCodec(container)
    case .mp3: add(.mp3NotDocumented, mp3)
    case .flac: add(.flacNotSupported, "The file is FLAC; \(list) only.")
    case .ogg: add(.oggNotSupported, "The file is Ogg; \(list) only.")
    case .m4a: add(.m4aNotSupported, "The file is MPEG-4 (M4A); \(list) only.")
    case .aac: add(.aacNotSupported, "The file is a stream of AAC; \(list) only.")
    default: add(.containerNotSupported, "The file is \(container.title); \(list) only.")
    }
    return false
  }

  private var mp3: String {
    "The sound is MP3. Articles say that iOS plays it, but Apple's documentation does not list it, so iOS may not play it."
  }

  private mutating func checkCodec(_ container: SoundContainer) -> Bool {
    guard let codec = facts.header?.codec, !codec.isDocumented else { return true }
    let list = "iOS documents linear PCM, IMA ADPCM, µ-law and A-law only."
    switch codec {
    case .mp3: add(.mp3NotDocumented, mp3)
    case .msADPCM: add(.msADPCMNotSupported, "The sound is encoded as Microsoft ADPCM; \(list)")
    case .gsm: add(.gsmNotSupported, "The sound is encoded as GSM 6.10; \(list)")
    case .aac: add(.aacNotSupported, "The sound is encoded as AAC; \(list)")
    case .pcm(let bits): add(.codecNotSupported, "The samples have \(bits) bits; use 8 to 32 bits.")
    default: add(.codecNotSupported, "The sound is encoded as \(codec.name); \(list)")
    }
    return false
  }

  /// The replacement name, without extension, for a file with the reserved name.
  private static let otherStem = "tone"

  /// Whether the name is `default` without an extension. For this name, a notification plays the system's default
  /// sound. The name `default.wav` is different: it belongs to the sound that an app may provide for all missing
  /// sounds.
  private var isReserved: Bool { facts.name.hasSameBytes(as: SoundChoice.defaultName) }

  private mutating func checkExtension(_ container: SoundContainer) {
    let stem = facts.name.withoutExtension
    let given = String(facts.name.dropFirst(stem.count + 1))
    guard !container.fileExtensions.contains(given.lowercased()) else { return }
    let isKnown = SoundContainer.allCases.contains { $0.fileExtensions.contains(given.lowercased()) }
    // With an extension, the reserved name would become `default.wav`, the fallback for all missing sounds.
    let base = isReserved ? Self.otherStem : isKnown ? stem : facts.name
    let name = base + "." + container.fileExtensions[0]
    add(
      .wrongExtension,
      "The content is \(container.title), but the name "
        + (given.isEmpty ? "has no extension." : "ends in .\(given)."),
      command.rename(to: name))
  }

  private mutating func checkHeader() {
    guard let header = facts.header else { return }
    for fault in header.faults {
      switch fault {
      case .truncated(let stated, let present):
        add(
          .truncated,
          "The header states \(seconds(stated)) of sound, but only \(seconds(present)) is there: the file was cut off.")
      case .lengthMissing:
        add(.headerMismatch, "The header states no length, for example because a program wrote into a pipe.")
      case .mismatch(let text): add(.headerMismatch, text)
      }
    }
    if header.isOpenEnded {
      add(.lengthUnstated, "The header leaves the length open, so a truncation of the file would not be noticed.")
    }
    if header.faults.isEmpty {
      if header.frames == 0 {
        add(.noFrames, "The file is complete, but has no sound in it: 0 frames.", "Export the sound again.")
      } else if facts.levels == nil {
        add(.undecodable, "The header is correct, but the sound cannot be decoded.", command.convert())
      }
    }
    if case .float? = header.codec {
      add(.floatSamples, "The samples are floating-point numbers, which Apple's documentation does not mention.")
    }
    if let channels = header.channels, channels > 2 {
      add(.manyChannels, "The sound has \(channels) channels; a notification needs one.")
    }
    if let rate = header.sampleRate, rate > 0, !(8_000...48_000).contains(rate) {
      add(.unusualSampleRate, "The sample rate is \(rate) Hz; use 8,000 to 48,000 Hz.")
    }
  }

  private mutating func checkLength() {
    guard let header = facts.header, let rate = header.sampleRate, rate > 0 else { return }
    let limit = SoundDiagnosis.limit * rate
    // If the header is wrong, the length of the sound in the file counts.
    guard let frames = header.faults.isEmpty ? header.frames : header.storedFrames else { return }
    if frames >= limit {
      add(
        .tooLong,
        "The sound lasts \(seconds(frames)). iOS plays the default sound instead of a sound of 30 s or more.")
    } else if header.faults.isEmpty, let stored = header.storedFrames, stored >= limit {
      add(
        .paddingReachesLimit,
        "The sound lasts \(seconds(frames)), but its last block is filled up to \(seconds(stored)), and iOS may count that."
      )
    }
  }

  private mutating func checkLevels() {
    guard let levels = facts.levels, facts.header?.frames != 0, facts.header?.storedFrames != 0 else { return }
    guard levels.peak >= SoundDiagnosis.quietestPeak else {
      return add(
        .silent, "Nothing can be heard: the highest level is more than 60 dB below full scale.",
        "Export the sound again, and listen to it first.")
    }
    if levels.clippedSamples > 0 || levels.peak > 1 {
      add(
        .clipping,
        levels.peak > 1
          ? "Samples are beyond full scale, where they are clipped."
          : "\(levels.clippedSamples) samples are clipped: they stay at full scale, which is heard as a crackle.",
        command.convert(filter: "adeclip,volume=-6dB"))
    }
    let range = SoundDiagnosis.loudness
    guard let loudness = levels.loudnessLUFS, !range.contains(loudness) else { return }
    let isLoud = loudness > range.upperBound
    // The value is rounded away from the range. Otherwise, -10.996 LUFS would be shown as the limit, -11.00 LUFS.
    let measured = String(format: "%.2f", (loudness * 100).rounded(isLoud ? .up : .down) / 100)
    let limit = String(format: "%g", isLoud ? range.upperBound : range.lowerBound)
    if isLoud {
      add(.tooLoud, "The loudness is \(measured) LUFS, which is above \(limit) LUFS and louder than Crier's tones.")
    } else {
      add(.tooQuiet, "The loudness is \(measured) LUFS, which is below \(limit) LUFS and quieter than Crier's clips.")
    }
  }

  private mutating func checkName(_ container: SoundContainer) {
    let name = SoundName(facts.name, container: container)
    if let valid = name.validReplacement {
      add(
        .invalidName, "The name begins with “.”, contains control characters or is too long.", command.rename(to: valid)
      )
    } else if let usual = name.usualReplacement {
      add(
        .unpublishableName,
        "iOS searches for the exact name, and Crier publishes only names that end in .wav, .aiff or .caf.",
        command.rename(to: usual))
    }
    if let composed = name.composedReplacement {
      add(
        .decomposedName,
        "The name contains letters with separate accents, so on other systems it is not the name that people type.",
        command.rename(to: composed))
    }
    if isReserved {
      add(
        .reservedName,
        "A notification that names “\(SoundChoice.defaultName)” plays the system's default sound, and never this file.",
        command.rename(to: "\(Self.otherStem).\(container.fileExtensions[0])"))
    }
  }

  private mutating func checkFolder() {
    let folders = facts.folder.split(separator: "/").map(String.init)
    guard let last = folders.last, last.lowercased() == "sounds" else { return }
    let parent = folders.dropLast().last
    guard last != "Sounds" || parent != "Library" else { return }
    let above = folders.dropLast(parent?.lowercased() == "library" ? 2 : 1)
    add(
      .wrongFolder, "iOS looks in the folder Library/Sounds of a container; this folder is \(parent ?? "")/\(last).",
      command.move(to: "/" + (above + ["Library", "Sounds"]).joined(separator: "/")))
  }

  private func seconds(_ frames: Int) -> String {
    guard let rate = facts.header?.sampleRate, rate > 0 else { return "\(frames) frames" }
    // The duration is rounded down. Otherwise, 29.999 s would be shown as 30.00 s.
    return String(format: "%.2f s", (Double(frames) / Double(rate) * 100).rounded(.down) / 100)
  }
}
