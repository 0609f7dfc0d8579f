// SPDX-License-Identifier: Apache-2.0

extension InstallationDiagnosis {
  /// Returns the problem of something that is not the same on all machines that share a ledger.
  static func nodesProblem(_ difference: DatabaseFacts.Difference, _ commands: RemedyCommands) -> InstallationProblem {
    let (subject, remedy) = text(of: difference.thing, commands)
    return InstallationProblem(
      .nodesDiffer,
      "\(subject) on all machines that share the ledger. Machines with the same: \(difference.machinesText).",
      remedy: remedy)
  }

  /// Returns the beginning of a sentence about a thing, and what to do.
  private static func text(of thing: String, _ commands: RemedyCommands) -> (subject: String, remedy: String) {
    switch thing {
    case "signing_secret":
      return (
        "The signing secret is not the same",
        "Copy the file signing-secret of the machine whose URLs are in use to the home folders of the others, and restart "
          + "their services. The other things are compared after that."
      )
    case "push_keys":
      return (
        "The apps and keys of the setting apns are not the same",
        "Copy the entries of apns, and the .p8 files that they name, to all machines, and restart their services."
      )
    case "providers":
      return (
        "providers.yaml, or a mapping file that it names, is not the same",
        "Copy providers.yaml and the mapping files beside it to all machines. The services read them by themselves."
      )
    case "lexicon":
      return (
        "The lexicon is not the same", "Copy lexicon.csv to all home folders, and restart the services."
      )
    case "packs":
      return (
        "The own voice packs, or the choices of packs, are not the same",
        "Copy the folder Voices and the file packs.json of one home folder to the others. The services follow them by "
          + "themselves. See which packs a machine has:\n" + commands.crier("voices list")
      )
    case "tones":
      return (
        "The tones of the app groups are not the same",
        "Copy the tones to Library/Sounds of the app group on all machines. The services look every ten minutes."
      )
    case "chimes":
      return (
        "The chimes are not the same",
        "Make the settings chime and chimes, and the files that they name, the same, and restart the services."
      )
    case "speech_servers":
      return (
        "The speech servers are not the same",
        "Make the setting speech_servers, the files that it names, and the file speech-servers.json with the verdicts the "
          + "same, and restart the services."
      )
    case "program_files", "installed_packs", "engine":
      return (
        "What comes with the program is not the same (\(thing)), although the versions of Crier are,",
        "Install the same packages, of the speech engine too, on all machines, and restart the services."
      )
    default:
      let name = thing.hasPrefix("setting:") ? String(thing.dropFirst("setting:".count)) : thing
      return (
        "The setting \(name) is not the same",
        "Give it the same value in crier.yaml on all machines, and restart their services. See the value on a machine:\n"
          + commands.crier("serve --print-config")
      )
    }
  }
}

extension DatabaseFacts.Difference {
  /// The machines: with commas between those that have the same, and semicolons between the groups.
  var machinesText: String { machines.map { $0.joined(separator: ", ") }.joined(separator: "; ") }
}
