// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import DownloadTestSupport
import Foundation
import HostAddresses
import PushMessages
import SoundDownloads
import SoundLibrary
import Testing

@testable import PhoneRegistration

let first = Data([1, 2, 3])
let second = Data([4, 5, 6])

/// A fresh folder, which is removed when the test is over.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "phone-registration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

/// Returns the permissions of a file or folder.
func permissions(of file: URL) throws -> Int? {
  let attributes = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
  return (attributes[.posixPermissions] as? NSNumber)?.intValue
}

/// A phone whose service is a closure. Its processes share the container.
struct TestPhone {
  /// The content of a registration.
  struct Sent: Decodable, Equatable {
    var tokens: [String: String]
    var environment: String
    var tone: String?
  }

  let folder: TemporaryFolder
  let service: ScriptedFetcher
  var settings: PhoneSettings
  let errors = Locked<[String]>([])

  /// - Parameter script: Answers a request; the number of the first one is 1. Without a script, each request is
  ///   answered with the number 7.
  init(
    isRegistered: Bool = true, script: @escaping ScriptedFetcher.Script = { _, _ in .registered(lastSequence: 7) }
  ) throws {
    folder = try TemporaryFolder()
    service = ScriptedFetcher(script)
    let container = GroupContainer(directory: folder.url)
    let store = FileDeviceCredentialStore(folder.url.appending(path: "Keys/device.json"))
    if isRegistered { try store.store(DeviceCredentials(device: "till-1", key: "crier_7d3k9q2m_secret")) }
    guard let url = URL(string: "https://sounds.example") else { throw URLError(.badURL) }
    settings = PhoneSettings(
      service: url, bundleID: "com.example.shop", container: container, tone: FileTonePreference(container: container),
      credentials: store, environment: .sandbox, fetcher: service)
    settings.resolver = TableResolver()
    settings.report = { [errors] error in errors.withLock { $0.append("\(error)") } }
  }

  /// Returns the registration of one process.
  func process() -> PhoneRegistration { PhoneRegistration(settings, notifications: nil) }

  var sent: [Sent] {
    get throws { try service.requests.map { try JSONDecoder().decode(Sent.self, from: $0.body ?? Data()) } }
  }

  /// Whether the service may have other tokens than the phone, as the file says.
  var needsRegistration: Bool { get throws { try settings.tokens.change { $0.needsRegistration } } }
}

extension SoundAnswer {
  static func registered(lastSequence: Int64) -> SoundAnswer {
    SoundAnswer(200, [:], [Array(#"{"last_sequence":\#(lastSequence)}"#.utf8)])
  }
}
