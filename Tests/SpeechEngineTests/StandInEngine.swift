// SPDX-License-Identifier: Apache-2.0

import Foundation
import SpeechEngine

/// The built speaker with a test engine: `Tests/Fixtures/stand-in-engine`, whose children run the code in each text. It
/// is compiled once for all tests.
enum StandInEngine {
  struct NotBuilt: Error { var messages: String }

  private static let program = Result { try build() }

  static func engine(deadlineMilliseconds: Int = 20_000) throws -> SpeechEngine {
    SpeechEngine(
      .init(
        speaker: try program.get(), speakers: 1, deadlineMilliseconds: deadlineMilliseconds, allowance: .seconds(20)))
  }

  static func utterance(_ text: String, voice: String = "en") -> Utterance {
    Utterance(voice: voice, rate: 160, text: text)
  }

  /// Returns the engine's sound for a text. No other text has the same sound.
  static func sound(of text: String) -> [Int16] {
    text.utf8.flatMap { repeatElement(100 * Int16($0), count: 220) }
  }

  /// Builds the engine.
  ///
  /// - Returns: a program that starts the speaker with this engine, because the speaker itself is started without an
  ///   environment.
  private static func build() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "stand-in-engine-\(UUID())")
    let data = folder.appending(path: "espeak-ng-data")
    try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
    try Data("a dictionary".utf8).write(to: data.appending(path: "en_dict"))
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Fixtures/stand-in-engine/engine.c").standardizedFileURL
    let compiler = Process()
    let messages = Pipe()
    compiler.executableURL = URL(filePath: "/bin/sh")
    // Other processes write all files. If this process had a program open for writing while another test started a
    // process, the program could not be started.
    compiler.arguments =
      [
        "-c",
        """
        set -e
        cc -std=gnu17 -O1 -Wall -Wextra -Werror -shared -fPIC -DDATA_FOLDER="\\"$3\\"" "$4" -o "$1/libespeak-ng.so.1"
        printf '#!/bin/sh\\nLD_LIBRARY_PATH="%s" exec "%s"\\n' "$1" "$2" > "$1/speaker"
        chmod 755 "$1/speaker"
        """, "sh",
      ] + [folder, BuiltSpeaker.url, data, source].map { $0.path(percentEncoded: false) }
    compiler.standardError = messages
    try compiler.run()
    let text = try messages.fileHandleForReading.readToEnd() ?? Data()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw NotBuilt(messages: String(decoding: text, as: UTF8.self)) }
    return folder.appending(path: "speaker")
  }
}
