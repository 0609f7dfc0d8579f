// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
public import ArgumentParser
import Foundation
import PushDelivery
public import PushMessages
import TextFormats

struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Sends one push to a phone through APNs.",
    discussion: """
      It prints one line of JSON with the answer: apns_id, status and reason. If APNs refuses the push, standard error \
      says what the reason means. Exit status: 0 if APNs accepted the push; 65 if it refused the push; 69 if it could \
      not be reached or is too busy.

      The key is the .p8 file from Apple's developer account. Only its owner may be able to read it.

      EXAMPLES
        crier push alert --token "$TOKEN" --topic com.example.shop --key AuthKey_ABC123DEFG.p8 \\
          --key-id ABC123DEFG --team DEF123GHIJ --amount 12.50 --currency USD --locale en-US
        crier push file-provider --container working-set --token "$TOKEN" --topic com.example.shop --dry-run
      """,
    subcommands: [Alert.self, FileProvider.self, Background.self])

  struct Alert: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sends a notification about a payment, or with a text.",
      discussion: """
        The title and the text are written in the payload's language. The payload has the key 'crier', which the app's \
        service extension reads: id, amount, words, payer, and sequence if the payload has one. With --clip and \
        --clip-url, the extension also downloads the clip and plays it.
        """)

    @OptionGroup(title: "What to announce") var input: AnnouncementInput

    @OptionGroup(title: "For the service extension") var content: PushContentOptions

    @Option(
      help:
        "The sound file that the phone plays, with its extension, or default. (default: the name of --clip, or default)"
    )
    var sound: String?

    @Option(help: "The number on the app's icon; 0 removes it.", transform: wholeNumber)
    var badge: UInt32?

    @Option(help: "The name under which the phone groups notifications.")
    var thread: String?

    @Flag(help: "Let the phone play the sound at once, without the app's service extension.")
    var noExtension = false

    @OptionGroup(title: "Push") var push: PushOptions

    @OptionGroup(title: "Files") var files: DataOptions

    func validate() throws {
      if noExtension, content.clip != nil {
        throw ValidationError("--clip is for the service extension: drop it, or drop --no-extension.")
      }
    }

    func perform() async throws {
      let decoded = try input.announcement()
      for warning in decoded.warnings { Terminal.note("crier: \(Terminal.printable(warning))") }
      let announcer = try files.announcer(speakers: 1)
      let banner = try announcer.phraseBooks.banner(for: decoded.announcement, defaultLocale: input.locale)
      let clip = try content.pushedClip()
      let sound = sound ?? clip?.name ?? "default"
      if noExtension {
        let name = Terminal.printable(sound)
        Terminal.note("crier: Without the service extension, the phone plays \(name) at once, in no order.")
      }
      var message = AlertMessage(
        title: banner.title, subtitle: banner.subtitle, body: banner.body, badge: badge,
        sound: try AlertMessage.Sound(sound), mutableContent: !noExtension, threadID: thread)
      if !noExtension {
        let script = try announcer.script(
          for: decoded.announcement, options: RenderOptions(defaultLocale: input.locale ?? PhraseBooks.usualLocale))
        message.content = try PushContentOptions.content(of: decoded.announcement, script: script, clip: clip)
      }
      let (body, leftOut) = try message.fitted()
      if !leftOut.isEmpty {
        Terminal.note(
          "crier: The message was too large, so these parts are shorter or missing: "
            + leftOut.map(\.rawValue).joined(separator: ", "))
      }
      try await push.send(.alert, body: body)
    }
  }

  struct FileProvider: ReportingCommand {
    static let configuration = CommandConfiguration(
      commandName: "file-provider",
      abstract: "Makes a phone ask the app's file-provider extension for changes.")

    @Option(help: "The place of the change: root, working-set, or the identifier of a folder.")
    var container: String

    @OptionGroup(title: "Push") var push: PushOptions

    func perform() async throws {
      let message = FileProviderMessage(container: try FileProviderMessage.Container(container))
      try await push.send(.fileProvider, body: message.encoded())
    }
  }

  struct Background: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Wakes the app for a moment, without a notification.")

    @OptionGroup(title: "Push") var push: PushOptions

    func perform() async throws {
      try await push.send(.background, body: BackgroundMessage(clips: []).encoded())
    }
  }
}

/// The options for the receiver of a push, and for the key.
struct PushOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The device token, in hexadecimal digits.", valueName: "hex"))
  var token: String

  @Option(help: ArgumentHelp("The bundle id of the app, such as com.example.shop.", valueName: "bundle id"))
  var topic: String

  @Option(help: "The provider key: a .p8 file from Apple's developer account.", completion: .file(extensions: ["p8"]))
  var key: String?

  @Option(help: ArgumentHelp("The id of the key: ten letters and digits.", valueName: "id"))
  var keyID: String?

  @Option(help: ArgumentHelp("The id of the team: ten letters and digits.", valueName: "id"))
  var team: String?

  @Option(
    help: "The environment of the device token: \(PushEnvironment.allCases.map(\.rawValue).joined(separator: ", ")).")
  var environment: PushEnvironment = .production

  @Option(help: "Another server than Apple's: https://HOST:PORT.")
  var server: String?

  @Option(
    name: .customLong("ca"), help: "The certificates to trust instead of the system's, in PEM.", completion: .file())
  var certificates: String?

  @Option(
    help: "10 sends at once, 5 when it suits the battery, 1 without waking the phone. (default: 10 for alerts, else 5)")
  var priority: PushRequest.Priority?

  @Option(help: "The minutes for which APNs tries to deliver the push; 0 for one attempt.")
  var minutes = 60

  @Flag(help: "Print the request without its key, and send nothing.")
  var dryRun = false

  func validate() throws {
    if !dryRun {
      for (option, value) in [("--key", key), ("--key-id", keyID), ("--team", team)] where value == nil {
        throw ValidationError("\(option) is missing: give it, or --dry-run to send nothing.")
      }
    }
    if topic.hasSuffix(".pushkit.fileprovider") {
      throw ValidationError("--topic \(topic) has a suffix: give the bundle id alone, and the suffix is added.")
    }
    guard (0...60 * 24 * 30).contains(minutes) else {
      throw ValidationError("--minutes \(minutes) is out of range: give 0 to \(60 * 24 * 30), which is 30 days.")
    }
    if let server, PushServer(url: server) == nil {
      throw ValidationError("--server '\(server)' is not an address: give https://HOST or https://HOST:PORT.")
    }
  }

  func send(_ type: PushType, body: Data) async throws {
    let request = try PushRequest(
      token: DeviceToken(token), app: BundleID(topic), type: type, priority: priority,
      expiresAt: minutes == 0 ? nil : Date().addingTimeInterval(Double(minutes) * 60), body: body)
    if dryRun { return try StandardOutput.write(Self.text(of: request)) }
    guard let key, let keyID, let team else { return }
    // Whoever has the key can send pushes to all devices of the team's apps.
    PrivateProcess.leaveNoCoreFile()
    let trusted = certificates.map { URL(filePath: $0) }
    let place =
      server.flatMap { PushServer(url: $0, trustRoots: trusted) }
      ?? PushServer(host: environment.host, trustRoots: trusted)
    let connections = try PushConnections(server: place)
    defer { connections.close() }
    let providerKey = try ProviderKey(file: URL(filePath: key), id: keyID, team: team)
    // Two commands within 20 minutes must send the same provider token.
    let file = ProviderTokenFile(folder: CrierHome().providerTokens, key: providerKey)
    let client = PushClient(connections: connections, tokens: ProviderTokens(key: providerKey, file: file))
    let attempt = try await client.send(request)
    try StandardOutput.write(try Answer(id: request.id, attempt.response).jsonLine)
    guard attempt.consequence == .delivered else { throw Refused(attempt.response) }
  }

  private struct Answer: Encodable {
    var apnsID: String
    var status: Int
    @ExplicitNull var reason: String?

    init(id: UUID, _ response: PushResponse) {
      apnsID = id.uuidString.lowercased()
      status = response.status
      reason = response.reason
    }
  }

  /// The request as text, without the provider token.
  private static func text(of request: PushRequest) -> String {
    let headers = [("authorization", "bearer (not shown)")] + request.headers.map { ($0.name, $0.value) }
    return "POST \(request.path)\n" + headers.map { "\($0): \($1)" }.joined(separator: "\n") + "\n\n"
      + String(decoding: request.body, as: UTF8.self)
  }
}

/// The error of a push that APNs refused.
struct Refused: Error, CustomStringConvertible {
  /// The HTTP status.
  var status: Int
  var reason: String?

  init(_ response: PushResponse) { (status, reason) = (response.status, response.reason) }

  /// Whether APNs is too busy or has failed, so that the push may succeed later.
  var isTemporary: Bool { status == 429 || status >= 500 }

  var description: String {
    (isTemporary ? "APNs could not accept the push. \(retry)" : "APNs refused the push.") + "\n" + explanation
  }

  private var retry: String {
    guard reason == PushSender.tooManyTokens else { return "Try again in a moment." }
    return """
      APNs accepts only one new provider token of a key every 20 minutes, and another program, such as a service with \
      another home folder, has sent one. Set CRIER_HOME to the folder of that service, so that both send the same \
      token, or try again in 20 minutes.
      """
  }

  /// The row of the reason in docs/push.md.
  private var explanation: String {
    guard let reason else { return "APNs gave no reason. docs/push.md says what each status means." }
    guard let row = PushReasonText.row(of: reason) else {
      return "\(reason): Apple does not document this reason. docs/push.md says what each status means."
    }
    return """
      \(row.reason): \(Self.words(row))
      Why: \(row.why).
      What the service does then: \(row.measure) (docs/push.md).
      """
  }

  /// Returns the advice of a row in the wording for this command. The command has options in place of the setting, and
  /// sends a push only once.
  private static func words(_ row: PushReasonText.Row) -> String {
    let advice: String? =
      switch row.remedy {
      case .checkSetting(.bundleID): "Check --topic."
      case .checkSetting(.key): "Check --key, --key-id and --team."
      case .checkSetting(.keyOrBundleID): "Check --topic, --key, --key-id and --team."
      case .checkSetting(.keyOrEnvironment): "Check --environment and --key."
      case .checkServer: "Check --server."
      case .triedAgain, nil: nil
      case .some(let remedy): remedy.text
      }
    return advice.map { "\(row.meaning) \($0)" } ?? row.meaning
  }
}

extension PushEnvironment: ExpressibleByArgument {}

extension PushRequest.Priority: ExpressibleByArgument {
  public init?(argument: String) {
    guard let number = Int(argument) else { return nil }
    self.init(rawValue: number)
  }
}
