// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings
import Testing

@Suite("The file with secrets")
final class SecretFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "providers-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: folder) }

  private func write(mode: Int) throws -> URL {
    let file = folder.appending(path: "providers.yaml")
    try Data("endpoints:\n  - {id: till, provider: stripe, secrets: [whsec_a]}\n".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file
  }

  private func read(_ file: URL) throws(ProviderSettingsError) -> ProvidersFile {
    try ProvidersFile.read(file) { (name) throws(ProviderSettingsError) in
      throw ProviderSettingsError(.fileUnreadable, file: name, "is not read here", remedy: "leave it out")
    }
  }

  @Test("a secret file that only its owner can read is accepted", arguments: [0o600, 0o400])
  func secret(mode: Int) throws {
    #expect(try read(try write(mode: mode)).endpoints.map(\.id) == ["till"])
  }

  @Test(
    "a secret file that others can read or change is an error that names the command to run",
    arguments: [0o644, 0o640, 0o620, 0o601])
  func open(mode: Int) throws {
    let file = try write(mode: mode)
    let error = #expect(throws: ProviderSettingsError.self) { try read(file) }
    #expect(error?.code == .fileNotPrivate && error?.remedy == "run chmod 600 on it")
    #expect(error?.description.contains("whsec_a") == false)
  }

  @Test("a link to a secret file that others can read is an error")
  func link() throws {
    let file = try write(mode: 0o644)
    let link = folder.appending(path: "link.yaml")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    #expect(throws: ProviderSettingsError.self) { try read(link) }
    _ = try write(mode: 0o600)
    #expect(try read(link).endpoints.count == 1)
  }

  @Test("an empty secret file is an error")
  func empty() throws {
    let file = try write(mode: 0o600)
    try Data().write(to: file)
    let error = #expect(throws: ProviderSettingsError.self) { try read(file) }
    #expect(error?.code == .yamlMalformed)
  }

  @Test("a missing secret file, and a folder in its place, are errors")
  func missing() {
    for file in [folder.appending(path: "none.yaml"), folder] {
      let error = #expect(throws: ProviderSettingsError.self) { try read(file) }
      #expect(error?.code == .fileUnreadable)
    }
  }
}
