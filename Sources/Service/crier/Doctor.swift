// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import InstallationDiagnosis
import InstallationExamination

struct Doctor: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Looks at the installation, and says what is wrong and which command mends it.",
    discussion: """
      The command checks the settings, the home folder and its disk, the ledger (its file, or its server) and its keys, the phrase books, the \
      console, the speech engine and its sandbox, the voice packs, the output (with a moment of silence), the port, the \
      connection to APNs, the network that the unit of systemd allows, the clock, and the limit of open files. It \
      changes nothing, and can be run while the service runs. Run it as the service's user, with the flags of the \
      service.

      Each check has a verdict: ok, warning, fault, or skipped if a fault of another check is in its way. Beneath each \
      problem is the command that mends it.

      Exit status: 0 without a fault; 73 if the home, its disk or the ledger has a fault; 69 for any other fault.

      EXAMPLES
        crier doctor
        runuser -u crier -- crier doctor --home /var/lib/crier
        crier doctor --json
        crier doctor --bundle support.tar.gz

      The file of --bundle contains no amounts, names, tokens or keys.
      """)

  @Option(help: "The address that the service listens on. (default: as for crier serve)")
  var host: String?

  @Option(help: "The port that the service listens on. (default: as for crier serve)")
  var port: String?

  @Option(help: "The output that the service plays on. (default: as for crier serve)")
  var output: String?

  @Option(help: "A YAML file of settings. (default: crier.yaml in the home folder, if it exists)", completion: .file())
  var config: String?

  @Option(
    help: "Also write a .tar.gz with the report, the settings and the state of the service, for support.",
    completion: .file())
  var bundle: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  @OptionGroup var home: HomeOptions
  @OptionGroup(title: "Files") var files: DataOptions

  func validate() throws {
    if bundle == "" { throw ValidationError("--bundle is empty: name a file.") }
    if config == "" { throw ValidationError("--config is empty: name a file.") }
  }

  func perform() async throws {
    // A sound server or a program on the port may close its connection.
    signal(SIGPIPE, SIG_IGN)
    let environment = ProcessInfo.processInfo.environment
    let mayOpenDevices = SoundServerRestraint.apply(environment: environment)
    let flags: [(ServiceConfiguration.Name, String?)] = [(.host, host), (.port, port), (.output, output)]
    let look = InstallationLook(
      home: home.folder, files: files, config: config.map { URL(filePath: $0) },
      flags: Dictionary(uniqueKeysWithValues: flags.compactMap { name, value in value.map { (name, $0) } }),
      environment: environment, mayOpenDevices: mayOpenDevices)
    let diagnosis = InstallationDiagnosis(of: await look.facts(), home: home.folder.typed)
    if json {
      try StandardOutput.write(try diagnosis.jsonLine)
    } else {
      try StandardOutput.write(Terminal.printableLines(diagnosis.lines.joined(separator: "\n")))
    }
    if let bundle {
      let service = await SupportBundle.ask(at: look.address)
      let file = try OutputFile.write(
        [UInt8](try await SupportBundle.archive(of: look, service)), to: bundle, option: "--bundle")
      Terminal.note("crier: wrote \(Terminal.printable(file.path(percentEncoded: false))).")
    }
    if diagnosis.exitStatus != 0 { throw ExitCode(diagnosis.exitStatus) }
  }
}
