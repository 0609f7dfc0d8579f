// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ArgumentParser
import Foundation
import TextFormats

struct APNSSimulatorCommand: ReportingCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns-simulator",
    abstract: "Runs a stand-in for Apple's push service on this machine, to develop without an Apple account.",
    discussion: """
      The simulator speaks HTTP/2 with TLS, checks each push as Apple documents, and answers with Apple's statuses and \
      reasons. Its certificate is signed by an authority of its own. --ca FILE keeps the authority: its certificate \
      is in FILE and its key in FILE.key, and the next start uses both again. Files of other programs are refused and \
      never overwritten. At start, the address is printed on standard error. The command runs until it is interrupted.

      Each accepted push is one line of JSON on standard output: number, id, device, topic, type, priority, bytes, \
      payload, and warnings if there are any. Each refused push is one line of JSON on standard error: status, reason, \
      device, topic, type, and fault if --fault chose it. device has only the first 8 digits of the token.

      --fault takes STATUS[:REASON]=RATE, such as 503=0.1 or 400:BadTopic=0.01, or NAME=RATE, where NAME is goaway, \
      reset, close or never. The prefix after- lets the fault happen after the push was accepted: after-never=0.05. \
      RATE is a number from 0 to 1.

      EXAMPLES
        crier apns-simulator --port 8443 --ca ca.pem --any-key
        crier apns-simulator --ca ca.pem --key AuthKey.p8 --key-id ABC123DEFG --team DEF123GHIJ --topic com.example.app
        crier apns-simulator --any-key --fault 503=0.1 --fault after-reset=0.01 --reorder 0.05 --drop 0.02
      """)

  @Option(help: "The port to listen on; 0 chooses a free one.")
  var port = 0

  @Option(help: "The address to listen on. Only 127.0.0.1 is allowed.")
  var host = "127.0.0.1"

  @Option(
    help: "Keep the authority in this file, as PEM, and its key beside it, in a file with the suffix .key.",
    completion: .file())
  var ca: String?

  @OptionGroup(title: "Provider tokens") var provider: ProviderOptions
  @OptionGroup(title: "Faults") var trouble: TroubleOptions

  struct ProviderOptions: ParsableArguments {
    @Option(help: "The private key of provider tokens, a file .p8; it needs --key-id and --team.", completion: .file())
    var key: String?

    @Option(help: "The id of the key, as kid in provider tokens.")
    var keyID: String?

    @Option(help: "The id of the team, as iss in provider tokens.")
    var team: String?

    @Flag(help: "Accept each well-formed provider token, whoever signed it.")
    var anyKey = false

    @Option(help: "The bundle id of an app that may be pushed to; repeatable. (default: every app)")
    var topic: [String] = []

    @Option(help: "The shortest time between two new provider tokens of a key, in seconds.")
    var tokenSeconds = 1200
  }

  struct TroubleOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp("A fault and its rate; repeatable.", valueName: "fault=rate"), transform: FaultRate.init(_:))
    var fault: [FaultRate] = []

    @Option(help: "Retry-After of the faults with the status 429 or 503, in seconds.")
    var retryAfter: Int?

    @Option(help: "The time before each answer, in milliseconds.")
    var delayMs = 0

    @Option(help: "The token of a device that is away; repeatable.")
    var offline: [String] = []

    @Option(help: "The rate of pushes that change places with the next one to the same device, from 0 to 1.")
    var reorder = 0.0

    @Option(help: "The rate of accepted pushes that are never delivered, from 0 to 1.")
    var drop = 0.0

    @Option(help: "The seed of all random decisions.", transform: wholeNumber)
    var seed: UInt64 = 1
  }

  func validate() throws {
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port \(port): this is not a port; use a number from 0 to 65535.")
    }
    guard host == "127.0.0.1" else {
      throw ValidationError("--host: the simulator listens on 127.0.0.1 only, because it is for tests.")
    }
    guard ca != "" else { throw ValidationError("--ca is empty: name a file.") }
    guard provider.anyKey != (provider.key != nil) else {
      throw ValidationError("Give either --key FILE.p8 with --key-id and --team, or --any-key.")
    }
    if provider.key != nil, provider.keyID == nil || provider.team == nil {
      throw ValidationError("--key needs --key-id and --team: provider tokens name both.")
    }
    for (option, value) in [("reorder", trouble.reorder), ("drop", trouble.drop)] where !(0...1).contains(value) {
      throw ValidationError("--\(option) \(value): this is not a rate; use a number from 0 to 1.")
    }
    for (option, value) in [
      ("token-seconds", provider.tokenSeconds), ("delay-ms", trouble.delayMs), ("retry-after", trouble.retryAfter ?? 0),
    ] where !(0...86_400_000).contains(value) {
      throw ValidationError("--\(option) \(value): this is out of range; use a number from 0 to 86400000.")
    }
  }

  func perform() async throws {
    // A reader that goes away must be noticed as a failed write, and not end the process with a signal.
    signal(SIGPIPE, SIG_IGN)
    let simulator = try await APNSSimulator.start(configuration())
    for warning in trouble.fault.compactMap(\.warning) { Terminal.note("warning: \(warning)") }
    for token in trouble.offline { simulator.setOnline(token, false) }
    if let ca {
      let name = Terminal.printable(ca)
      Terminal.note(
        simulator.hasNewAuthority
          ? "The new authority is in \(name), and its key in \(name).key. The next start uses both again."
          : "The authority of \(name) is used again.")
    }
    Terminal.note("The push simulator is at https://localhost:\(simulator.port)")
    let (pushes, refusals) = (simulator.acceptances(), simulator.refusals())
    do {
      try await Interruption.cancelling {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { for await push in pushes { try StandardOutput.write(Self.line(push)) } }
          group.addTask {
            for await push in refusals { Terminal.note(Terminal.printable(try RefusalLine(push).jsonLine)) }
          }
          // An output that cannot be written ends the command.
          for try await _ in group {}
        }
        try Task.checkCancellation()
      }
    } catch is Interruption {
      // An interruption is the usual end of the command.
    } catch {
      await simulator.stop()
      throw error
    }
    await simulator.stop()
    Terminal.note(Self.summary(simulator.counts))
  }

  private func configuration() throws -> APNSSimulator.Configuration {
    var configuration = APNSSimulator.Configuration()
    configuration.port = port
    configuration.certificateAuthorityFile = ca.map { URL(filePath: $0) }
    if let file = provider.key, let id = provider.keyID, let team = provider.team {
      configuration.keys = .listed([try ProviderKey(id: id, team: team, pem: Self.read(file))])
    }
    if !provider.topic.isEmpty { configuration.topics = Set(provider.topic) }
    configuration.tokenUpdateInterval = provider.tokenSeconds
    configuration.answerDelay = trouble.delayMs
    if !trouble.fault.isEmpty { configuration.faults = .rates(trouble.fault.map { $0.rate(trouble.retryAfter) }) }
    configuration.reorderRate = trouble.reorder
    configuration.dropRate = trouble.drop
    configuration.seed = trouble.seed
    // Nobody reads remembered deliveries here, and they would fill the memory of a command that runs for days.
    configuration.remembersDeliveries = false
    return configuration
  }

  private static func read(_ file: String) throws -> String {
    do {
      return try String(contentsOf: URL(filePath: file), encoding: .utf8)
    } catch {
      throw ValidationError("--key: the file cannot be read (\((error as NSError).localizedDescription)).")
    }
  }

  /// Returns the line of a push. The payload is valid JSON, so its line breaks are only between values.
  private static func line(_ push: Push) throws -> String {
    struct Line: Encodable {
      var number: Int
      var id: String
      var device: String
      var topic: String
      var type: String
      var priority: Int
      var bytes: Int
      var warnings: [String]?
    }
    let line = Line(
      number: push.number, id: push.id.uuidString.lowercased(), device: String(push.device.prefix(8)),
      topic: push.topic, type: push.type, priority: push.priority, bytes: push.payload.count,
      warnings: push.namesType ? nil : [typeWarning])
    let payload = String(decoding: push.payload, as: UTF8.self).replacing(/[\r\n]/, with: " ")
    return try "\(line.jsonLine.dropLast()),\"payload\":\(payload)}"
  }

  private static let typeWarning =
    "apns-push-type is missing. Apple requires it for watchOS 6 and later, and recommends it for its other systems."

  /// The line of a refused push.
  private struct RefusalLine: Encodable {
    @ExplicitNull var status: Int?
    var reason: String
    var device: String
    @ExplicitNull var topic: String?
    @ExplicitNull var type: String?
    var fault: Bool?

    init(_ push: RefusedPush) {
      (status, reason, device) = (push.status, push.reason, String(push.device.prefix(8)))
      (topic, type, fault) = (push.topic, push.type, push.isFault ? true : nil)
    }
  }

  private static func summary(_ counts: Counts) -> String {
    """
    \(counts.requests) requests on \(counts.connections) connections: \(counts.accepted) accepted \
    (\(counts.duplicates) with a repeated id), \(counts.refused.values.reduce(0, +)) refused, \
    \(counts.faults.values.reduce(0, +)) with a fault; \(counts.delivered) delivered, \(counts.dropped) dropped, \
    \(counts.reordered) reordered.
    """
  }
}
