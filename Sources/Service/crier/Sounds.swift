// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct Sounds: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists, checks, chooses and removes the sounds in Library/Sounds.",
    subcommands: [List.self, Check.self, Which.self, Tone.self, Prune.self])
}
