// SPDX-License-Identifier: Apache-2.0

import Announcements
public import Announcer
public import ArgumentParser
import Foundation
public import SoundFiles
import SpeechEngine

/// Where the program's data is, and the announcer made of it.
struct DataOptions: ParsableArguments {
  @Option(help: "The folder that holds Templates/.", completion: .directory)
  var data: String?

  func validate() throws {
    if data == "" { throw ValidationError("--data is empty: name a folder.") }
  }

  func phraseBooks() throws -> PhraseBooks { try PhraseBooks(directory: installation.templates) }

  /// - Parameter speakers: speaker programs; a single clip needs no more than one.
  func announcer(speakers: Int) throws -> Announcer {
    Announcer(
      phraseBooks: try phraseBooks(),
      engine: SpeechEngine(SpeechEngine.Configuration(speaker: installation.speaker, speakers: speakers)))
  }

  private var installation: Installation {
    Installation(
      data: data, environment: ProcessInfo.processInfo.environment,
      executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
  }
}

/// How a clip is made.
struct ClipOptions: ParsableArguments {
  @Option(help: "Who speaks: \(RenderOptions.Method.allCases.map(\.rawValue).joined(separator: ", ")).")
  var method: RenderOptions.Method = .auto

  @Option(help: "The engine's voice, such as en-us+f2, in place of the phrase book's.")
  var voice: String?

  @Option(help: "Words a minute, 80 to 450, in place of the phrase book's.")
  var rate: Int?

  func renderOptions(locale: String?, format: SoundFormat = SoundFormat(container: .wav, encoding: .pcm16))
    -> RenderOptions
  {
    var options = RenderOptions(method: method, voice: voice, rate: rate, format: format)
    if let locale { options.defaultLocale = locale }
    return options
  }
}

extension RenderOptions.Method: ExpressibleByArgument {}
extension SoundFormat.Container: ExpressibleByArgument {}
extension SoundFormat.Encoding: ExpressibleByArgument {}
