// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct Sounds: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Manages the clips and tones in Library/Sounds.",
    subcommands: [Prune.self, Tone.self])
}
