// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Announcer
public import ArgumentParser
import Foundation
public import SoundFiles
import SpeechEngine
import VoicePacks

/// Where the program's data is, and the announcer made of it.
struct DataOptions: ParsableArguments {
  @Option(help: "The folder that holds Templates/ and Voices/.", completion: .directory)
  var data: String?

  func validate() throws {
    if data == "" { throw ValidationError("--data is empty: name a folder.") }
  }

  /// - Parameter lexicon: the file of a lexicon; `nil` takes the one in the home folder, where there is one.
  func phraseBooks(lexicon: String? = nil, home: CrierHome = CrierHome()) throws -> PhraseBooks {
    try PhraseBooks(directory: installation.templates, lexicon: try LexiconFile.read(lexicon, home: home))
  }

  /// - Parameters:
  ///   - speakers: speaker programs; a single clip needs no more than one.
  ///   - lexicon: see ``phraseBooks(lexicon:)``.
  func announcer(speakers: Int, lexicon: String? = nil) throws -> Announcer {
    Announcer(
      phraseBooks: try phraseBooks(lexicon: lexicon),
      engine: engine(speakers: speakers), packs: shelf)
  }

  func engine(speakers: Int) -> SpeechEngine {
    SpeechEngine(SpeechEngine.Configuration(speaker: installation.speaker, speakers: speakers))
  }

  /// What somebody recorded comes before what set-up built.
  var shelf: VoicePackShelf { VoicePackShelf(folders: [CrierHome().voices, installation.voices]) }

  var installation: Installation {
    Installation(
      data: data, environment: ProcessInfo.processInfo.environment,
      executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
  }
}

/// How a clip is made.
struct ClipOptions: ParsableArguments {
  @Option(help: "Who speaks: \(RenderOptions.Method.allCases.map(\.rawValue).joined(separator: ", ")).")
  var method: RenderOptions.Method = .auto

  @Option(help: "The voice pack, by its id (see crier voices list); the engine says what it lacks.")
  var pack: String?

  @Option(help: "The engine's voice, such as en-us+f2, in place of the phrase book's.")
  var voice: String?

  @Option(help: "Words a minute, 80 to 450, in place of the phrase book's.")
  var rate: Int?

  func renderOptions(locale: String?, format: SoundFormat = SoundFormat(container: .wav, encoding: .pcm16))
    -> RenderOptions
  {
    var options = RenderOptions(method: method, pack: pack, voice: voice, rate: rate, format: format)
    if let locale { options.defaultLocale = locale }
    return options
  }
}

extension RenderOptions.Method: ExpressibleByArgument {}
extension SoundFormat.Container: ExpressibleByArgument {}
extension SoundFormat.Encoding: ExpressibleByArgument {}
