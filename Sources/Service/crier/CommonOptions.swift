// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
public import Announcer
public import ArgumentParser
import Foundation
public import SoundFiles
import SpeechEngine
import SpeechServers
import VoicePacks

/// The option for the program's data folder, and the announcer that uses it.
struct DataOptions: ParsableArguments {
  @Option(help: "The folder that holds Templates/, Readers/ and Voices/.", completion: .directory)
  var data: String?

  func validate() throws {
    if data == "" { throw ValidationError("--data is empty: name a folder.") }
  }

  /// Reads the phrase books.
  ///
  /// - Parameters:
  ///   - lexicon: A lexicon file; `nil` uses the home folder's lexicon, if it exists.
  ///   - smallSums: The sums that are said with “only”.
  func phraseBooks(
    lexicon: String? = nil, home: CrierHome, smallSums: SmallSums = SmallSums()
  ) throws -> PhraseBooks {
    try PhraseBooks(
      directory: installation.templates, lexicon: try LexiconFile.read(lexicon, home: home), smallSums: smallSums)
  }

  /// - Parameters:
  ///   - speakers: The number of speaker processes. A single clip needs only one.
  ///   - lexicon: A lexicon file; see ``phraseBooks(lexicon:home:)``.
  ///   - copiesPacks: Whether the clips of packs are copied; see ``shelf(home:copiesPacks:)``.
  func announcer(
    speakers: Int, lexicon: String? = nil, home: CrierHome = CrierHome(), copiesPacks: Bool = false
  ) throws -> Announcer {
    Announcer(
      phraseBooks: try phraseBooks(lexicon: lexicon, home: home),
      readers: AmountReaders(directory: installation.readers),
      engine: engine(speakers: speakers), packs: shelf(home: home, copiesPacks: copiesPacks),
      speechServers: try SpeechServerVoices(of: home))
  }

  func engine(speakers: Int) -> SpeechEngine {
    SpeechEngine(SpeechEngine.Configuration(speaker: installation.speaker, speakers: speakers))
  }

  /// The voice packs. The user's recorded packs take precedence over the packs that setup built.
  ///
  /// - Parameters:
  ///   - copiesPacks: Whether the clips of packs are copied instead of mapped. A command that runs for a long time
  ///     needs copies, because somebody may change the files meanwhile.
  ///   - settled: The packs that the service's settings choose.
  func shelf(
    home: CrierHome, copiesPacks: Bool = false, settled: ChosenPacks = ChosenPacks()
  ) -> VoicePackShelf {
    VoicePackShelf(
      folders: [home.voices, installation.voices], storage: copiesPacks ? .copied : .mapped,
      choices: home.chosenPacks, settled: settled)
  }

  var installation: Installation {
    Installation(
      data: data, environment: ProcessInfo.processInfo.environment,
      executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
  }
}

/// The options for how a clip is rendered.
struct ClipOptions: ParsableArguments {
  @Option(help: "The rendering method: \(RenderOptions.Method.allCases.map(\.rawValue).joined(separator: ", ")).")
  var method: RenderOptions.Method = .auto

  @Option(help: "The id of the voice pack (see crier voices list); the engine speaks words that the pack lacks.")
  var pack: String?

  @Option(help: "The engine's voice, such as en-us+f2, or the id of a speech server. (default: the phrase book's)")
  var voice: String?

  @Option(help: "The speed in words a minute, 80 to 450. (default: the phrase book's)")
  var rate: Int?

  func renderOptions(
    locale: String?, format: SoundFormat = SoundFormat(container: .wav, encoding: .pcm16),
    sampleRate: Int = RenderOptions.standardSampleRate
  ) -> RenderOptions {
    var options = RenderOptions(
      method: method, pack: pack, voice: voice, rate: rate, format: format, sampleRate: sampleRate)
    if let locale { options.defaultLocale = locale }
    return options
  }
}

/// The options for the sound in a clip's file.
struct SoundOptions: ParsableArguments {
  @Option(help: "The sample encoding: \(SoundFormat.Encoding.allCases.map(\.rawValue).joined(separator: ", ")).")
  var encoding: SoundFormat.Encoding = .pcm16

  @Option(help: "The sample rate in Hz, 8000 to 48000. The voices have 22050 Hz.")
  var sampleRate = RenderOptions.standardSampleRate

  func validate() throws {
    let rates = RenderOptions.sampleRates
    guard rates.contains(sampleRate) else {
      throw ValidationError(
        "--sample-rate \(sampleRate) is out of range: give \(rates.lowerBound) to \(rates.upperBound) Hz.")
    }
  }
}

/// Reads the value of an option that cannot be negative.
///
/// - Throws: `ValidationError`.
func wholeNumber<Number: FixedWidthInteger & UnsignedInteger>(_ text: String) throws -> Number {
  guard let number = Number(text) else {
    throw ValidationError(
      "It is \(text.hasPrefix("-") ? "negative" : "out of range or not a whole number"): give 0 to \(Number.max).")
  }
  return number
}

extension RenderOptions.Method: ExpressibleByArgument {}
extension SoundFormat.Container: ExpressibleByArgument {}
extension SoundFormat.Encoding: ExpressibleByArgument {}
