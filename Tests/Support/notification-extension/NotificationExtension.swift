// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import Foundation
import HostAddresses
import NotificationAttachments
import NotificationServiceKit
import SoundDownloads
import SoundDownloadsURLSession
import SoundLibrary

/// One extension process of a simulated phone.
///
/// Usage: notification-extension CONFIGURATION.json, or notification-extension empty, which only waits for the end of
/// its input, so that its memory can be compared.
///
/// Standard input has one line of JSON for each event of the phone, and standard output one for each event of the
/// extension; `Tests/phone/phone.py` describes both. The process ends at the end of its input, when no notification is
/// open.
@main
struct NotificationExtension {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else {
      fatalError("usage: notification-extension CONFIGURATION.json | empty")
    }
    // The phone may end before the process has written its last line.
    signal(SIGPIPE, SIG_IGN)
    if CommandLine.arguments[1] == "empty" {
      print(["event": "ready"])
      while readLine() != nil {}
      return
    }
    let file = URL(filePath: CommandLine.arguments[1])
    let settings = try JSONDecoder().decode(Settings.self, from: Data(contentsOf: file))
    let phone = Phone(settings)
    print(["event": "ready"])
    let lines = AsyncStream<String> { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
    for await line in lines { phone.receive(line) }
    await phone.finished()
  }

  /// Writes one line. Lines of different threads do not mix, because each is written by one call.
  static func print(_ fields: [String: Any]) {
    guard let data = try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys]) else { return }
    FileHandle.standardOutput.write(data + Data("\n".utf8))
  }
}

/// The settings that the phone gives to the process at its start.
struct Settings: Decodable {
  /// The group container.
  var container: String
  /// The folder of the phrase books; nil if the phone has none.
  var templates: String?
  /// The URL of the service, the id of the device and the device's key; nil to ask nobody for missing announcements.
  var service: String?
  var device: String?
  var key: String?
  /// The last sequence number when the device registered. The first process of the phone writes it into the order.
  var lastSequence: Int64?
  /// The time in ms between the arrival and the latest hand-over.
  var budget: Int64?
  /// The time in ms after which a process that has not been heard from counts as ended, and the waiting time for a
  /// missing number.
  var lease: Int64?
  var patience: Int64?

  enum CodingKeys: String, CodingKey {
    case container, templates, service, device, key, budget, lease, patience
    case lastSequence = "last_sequence"
  }
}

/// The extension as it is written for iOS, with the simulated phone in place of the system.
final class Phone: Sendable {
  private let service: NotificationService
  private let open = Locked<[String: NotificationWork]>([:])
  private let tasks = Locked<[Task<Void, Never>]>([])

  init(_ settings: Settings) {
    let container = GroupContainer(directory: URL(filePath: settings.container, directoryHint: .isDirectory))
    var configuration = NotificationService.Configuration(
      container: container, tone: FileTonePreference(container: container))
    configuration.phraseBooks = settings.templates.map { URL(filePath: $0, directoryHint: .isDirectory) }
    let fetcher = URLSessionSoundFetcher()
    // The service of a simulation is on this machine, without TLS.
    let rules = DownloadRules(allowsUnencrypted: true, allowsPrivateAddresses: true, longest: .seconds(4))
    configuration.downloader = SoundDownloader(
      library: SoundLibrary(container: container), fetcher: fetcher, rules: rules, check: { _ in })
    configuration.attachments = AttachmentDownloader(
      folder: FileManager.default.temporaryDirectory, fetcher: fetcher, rules: rules)
    configuration.notifier = Notifier()
    if let url = settings.service.flatMap({ URL(string: $0) }), let device = settings.device, let key = settings.key {
      configuration.missed = DeviceClient(
        access: DeviceAccess(service: url, device: device, key: key), fetcher: fetcher, rules: rules)
    }
    if let budget = settings.budget { configuration.settings.budget = budget }
    if let lease = settings.lease { configuration.settings.lease = lease }
    if let patience = settings.patience { configuration.settings.sequencePatience = patience }
    configuration.report = { error in FileHandle.standardError.write(Data("\(error)\n".utf8)) }
    service = NotificationService(configuration)
    let order = container.directory.appending(path: "Library/Crier/order.json").path(percentEncoded: false)
    if let last = settings.lastSequence, !FileManager.default.fileExists(atPath: order) {
      try? service.restart(after: last)
    }
  }

  func receive(_ line: String) {
    guard let fields = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { return }
    switch fields["do"] as? String {
    case "push":
      guard let request = fields["request"] as? String, let payload = fields["payload"],
        let data = try? JSONSerialization.data(withJSONObject: payload)
      else { return }
      let work = service.receive(data) { handOver in
        NotificationExtension.print(handOver.fields.merging(["event": "hand-over", "request": request]) { $1 })
      }
      open.withLock { $0[request] = work }
      tasks.withLock { tasks in
        tasks.append(
          Task {
            await work.finished()
            self.open.withLock { $0[request] = nil }
          })
      }
    case "expire":
      (fields["request"] as? String).flatMap { request in open.withLock { $0[request] } }?.expire()
    case "catch-up":
      tasks.withLock { tasks in
        tasks.append(
          Task {
            await self.service.catchUp()
            NotificationExtension.print(["event": "caught-up"])
          })
      }
    default: break
    }
  }

  /// Returns when no notification is open.
  func finished() async {
    for task in tasks.withLock({ $0 }) { await task.value }
  }
}

extension HandOver {
  /// The hand-over as the phone reads it.
  var fields: [String: Any] {
    var fields: [String: Any] = [
      "attachments": attachments.map { ["identifier": $0.identifier, "path": $0.file.path(percentEncoded: false)] }
    ]
    switch sound {
    case .silent(let silence): (fields["sound"], fields["silent"]) = (NSNull(), silence.rawValue)
    case .named(let name): (fields["sound"], fields["silent"]) = (name, NSNull())
    case .systemDefault: (fields["sound"], fields["silent"]) = ("default", NSNull())
    }
    if let summary {
      fields["summary"] = [
        "ids": summary.announcements, "text": [summary.title, summary.body].compactMap(\.self).joined(separator: ": "),
      ]
      if let title = summary.title { fields["title"] = title }
      if let body = summary.body { fields["body"] = body }
    } else {
      fields["summary"] = NSNull()
    }
    return fields
  }
}

/// Adds local notifications to the simulated phone.
struct Notifier: LocalNotifying {
  func add(_ notification: LocalNotification) async throws {
    var fields = notification.handOver.fields
    fields["event"] = "local"
    fields["identifier"] = notification.identifier
    fields["ids"] = [notification.identifier]
    fields["delay_ms"] = notification.delay
    NotificationExtension.print(fields)
  }
}
