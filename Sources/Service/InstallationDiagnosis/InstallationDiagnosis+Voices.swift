// SPDX-License-Identifier: Apache-2.0

import TextFormats

extension InstallationDiagnosis {
  /// The remedy for damaged files of the installation.
  private static let reinstall =
    "Install Crier again, which replaces its data, or name another data folder with --data."

  static func phraseBooks(_ facts: PhraseBookFacts, _ commands: RemedyCommands) -> InstallationCheck {
    if let missing = facts.missing {
      return InstallationCheck(.phraseBooks, facts.folder, .phraseBooksMissing, missing, remedy: reinstall)
    }
    var problems = facts.broken.map { InstallationProblem(.phraseBookInvalid, $0.error, remedy: reinstall) }
    if let fault = facts.defaultLocaleFault {
      problems.append(
        InstallationProblem(
          .localeUnknown, fault, remedy: "Correct the setting 'locale':\n\(commands.crier("serve --print-config"))"))
    }
    if let fault = facts.lexiconFault {
      problems.append(
        InstallationProblem(
          .lexiconInvalid, fault,
          remedy: "Correct the line, or move the file away:\n"
            + "mv -n \(commands.file("lexicon.csv")) \(commands.file("lexicon.csv.wrong"))"))
    }
    let good = facts.locales.count - facts.broken.count
    return InstallationCheck(.phraseBooks, "\(good) of \(facts.locales.count) languages, in \(facts.folder)", problems)
  }

  static func console(_ facts: ConsoleFacts) -> InstallationCheck {
    if facts.isComplete { return InstallationCheck(.console, facts.folder) }
    return InstallationCheck(
      .console, facts.folder, .consoleMissing, "The files of the web console are missing.", remedy: reinstall)
  }

  static func engine(_ facts: EngineFacts) -> InstallationCheck {
    switch facts {
    case .ready(let identity, let milliseconds):
      return InstallationCheck(.engine, "\(identity), a word spoken in \(milliseconds) ms")
    case .sandboxUnavailable:
      return InstallationCheck(skipping: .engine, because: "nothing is spoken outside the sandbox")
    case .speakerMissing(let program):
      return InstallationCheck(
        .engine, "espeak-ng", .speakerMissing, "The speaker program is missing: \(program).",
        // If the Debian package is installed, `make install` would add a second program that runs in place of the
        // package's.
        remedy: program.hasPrefix("/usr/libexec/")
          ? "Install the package again:\napt-get install --reinstall ./crier_*.deb"
          : "Install Crier again, or build the program:\nmake install PREFIX=/usr/local")
    case .dataMissing:
      return InstallationCheck(
        .engine, "espeak-ng", .engineDataMissing, "The engine's data is missing or cannot be read.",
        remedy: "apt-get install --reinstall espeak-ng-data")
    case .failed(let problem, let remedy):
      return InstallationCheck(.engine, "espeak-ng", .engineFailed, sentence(problem), remedy: sentence(remedy))
    }
  }

  static func sandbox(_ facts: EngineFacts) -> InstallationCheck {
    switch facts {
    case .ready: InstallationCheck(.sandbox, "the word was spoken behind a filter of system calls (seccomp)")
    case .sandboxUnavailable:
      InstallationCheck(
        .sandbox, "seccomp", .sandboxUnavailable,
        "This system cannot confine the engine with a filter of system calls (seccomp).",
        remedy: "Use a Linux kernel with seccomp filters. In a container, allow the system call seccomp. This command "
          + "shows the filters of the kernel:\ngrep Seccomp_filters /proc/self/status")
    default: InstallationCheck(skipping: .sandbox, because: "the engine did not get that far")
    }
  }

  static func packs(_ facts: VoicePackFacts, _ commands: RemedyCommands) -> InstallationCheck {
    var problems = facts.packs.compactMap { problem($0, commands) }
    if let fault = facts.choicesFault {
      problems.append(
        InstallationProblem(
          .packChoicesUnreadable, sentence(fault),
          remedy: "Move the file away, and choose the packs again:\n"
            + "mv -n \(commands.file("packs.json")) \(commands.file("packs.json.wrong")); "
            + commands.crier("voices use PACK")))
    }
    for choice in facts.missingChoices {
      problems.append(
        InstallationProblem(
          .chosenPackMissing, "The pack \(choice.id), chosen for \(choice.locale), does not exist.",
          remedy: choice.isSetting
            ? "Correct the setting 'packs'; these packs exist:\n\(commands.crier("voices list"))"
            : "Choose another pack; these exist:\n\(commands.crier("voices list"))"))
    }
    guard !facts.packs.isEmpty else {
      return InstallationCheck(.voicePacks, "none; the engine speaks everything", problems)
    }
    var (sound, hints): ([String], [String]) = ([], [])
    for pack in facts.packs {
      guard case .sound(let digest, let locale, let lacking) = pack.condition else { continue }
      sound.append("\(pack.id) (\(digest.prefix(8))\(lacking > 0 ? ", lacks \(lacking) words" : ""))")
      guard lacking > 0 else { continue }
      hints.append(commands.crier("voices sheet --locale \(Shell.quoted(locale)) --missing \(Shell.quoted(pack.id))"))
    }
    // A pack need not have all words, so this is no problem.
    let hint =
      hints.isEmpty
      ? "" : "; the engine says the words that a pack lacks; to list them: " + hints.joined(separator: "; ")
    return InstallationCheck(
      .voicePacks,
      sound.isEmpty ? "no pack can be used" : "every clip matches its digest: \(sound.joined(separator: ", "))\(hint)",
      problems)
  }

  private static func problem(_ pack: VoicePackFacts.Pack, _ commands: RemedyCommands) -> InstallationProblem? {
    let again =
      pack.isUsers
      ? "Copy the pack's folder from a backup, or remove the pack and import or build it again:\n"
        + commands.crier("voices remove \(Shell.quoted(pack.id))")
      : reinstall
    switch pack.condition {
    case .sound: return nil
    case .unusable(let error): return InstallationProblem(.packUnusable, sentence(error), remedy: again)
    case .changed(let file):
      return InstallationProblem(
        .packChanged, "Voice pack \(pack.id): \(file) was changed after the pack was made.", remedy: again)
    }
  }

  /// Returns a text with a capital at its start and a full stop at its end.
  static func sentence(_ text: String) -> String {
    let ended = text.hasSuffix(".") || text.hasSuffix("?") ? text : text + "."
    return ended.prefix(1).uppercased() + ended.dropFirst()
  }
}
