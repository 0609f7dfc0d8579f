// SPDX-License-Identifier: Apache-2.0

import Announcer
import ArgumentParser

@main
enum Main {
  static func main() async {
    Terminal.fillMissingDescriptors()
    PrivateProcess.keepFilesUnwritable()
    Memory.keepBuffers()
    await Crier.main()
  }
}

struct Crier: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crier",
    abstract: "Tells a shopkeeper, aloud and in order, that money has arrived.",
    discussion: """
      A payment goes in; a short, correct, equally loud sound comes out, in the folder where a phone looks for it.

      Exit status: 0 done; 64 the command line is wrong; 65 the input is wrong; 69 the engine or a device is \
      unavailable; 73 the output cannot be written; 70 a fault of ours; 1 rows of a batch failed.
      """,
    version: "0.1.0",
    subcommands: [
      Render.self, Preview.self, Words.self, Batch.self, Voices.self, Sounds.self, Play.self, Queue.self, Serve.self,
      Keys.self,
    ])
}
