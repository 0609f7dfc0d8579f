// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser

@main
enum Main {
  static func main() async {
    Terminal.fillMissingDescriptors()
    PrivateProcess.keepFilesUnwritable()
    Memory.keepBuffers()
    let words = Array(CommandLine.arguments.dropFirst())
    let typed = CommandLineWords(words, of: Crier.self)
    if let unknown = typed.unknown {
      Terminal.note(unknown.message)
      Crier.exit(withError: ExitCode(64))
    }
    await Crier.main(typed.readable ?? words)
  }
}

struct Crier: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crier",
    abstract: "Announces incoming payments aloud and in order.",
    discussion: """
      Crier turns a payment into a short, correct, equally loud sound file in the folder where a phone looks for it.

      Exit status: 0 success; 64 wrong command line; 65 wrong input; 69 engine or device unavailable; 73 output cannot \
      be written; 70 internal error; 1 rows of a batch failed.
      """,
    version: "0.1.0",
    subcommands: [
      Render.self, Preview.self, Words.self, Batch.self, Voices.self, Sounds.self, Play.self, Queue.self, Serve.self,
      Book.self, Doctor.self, Providers.self, PushCommand.self, Keys.self, LedgerCommand.self,
      APNSSimulatorCommand.self,
    ])
}
