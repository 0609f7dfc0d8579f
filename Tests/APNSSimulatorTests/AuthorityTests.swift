// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Crypto
import Foundation
import Testing

@Suite("The authority of the push simulator", .timeLimit(.minutes(5)))
struct AuthorityTests {
  /// Runs the work with a fresh folder and the name of a file in it.
  private func inFolder(_ work: (_ folder: URL, _ file: URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apns authority \(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await work(folder, folder.appending(path: "ca.pem"))
  }

  /// Starts a simulator with the file, stops it, and returns what it said about its authority.
  @discardableResult
  private func start(_ file: URL) async throws -> (authority: String, isNew: Bool) {
    var configuration = APNSSimulator.Configuration()
    configuration.certificateAuthorityFile = file
    let simulator = try await APNSSimulator.start(configuration)
    await simulator.stop()
    return (simulator.certificateAuthority, simulator.hasNewAuthority)
  }

  private func error(_ file: URL) async throws -> APNSSimulatorError {
    try await #require(throws: APNSSimulatorError.self) { try await start(file) }
  }

  private func contents(_ folder: URL) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return Dictionary(uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
  }

  @Test(
    "later starts use the certificate and key that the first start has written, and only the owner can read the key"
  )
  func kept() async throws {
    try await inFolder { folder, file in
      let first = try await start(file)
      let files = try contents(folder)
      #expect(first.isNew && files.keys.sorted() == ["ca.pem", "ca.pem.key"])
      #expect(files["ca.pem"] == Data(first.authority.utf8))
      let mode = try FileManager.default.attributesOfItem(atPath: file.path + ".key")[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let second = try await start(file)
      #expect(!second.isNew && second.authority == first.authority)
      #expect(try contents(folder) == files)
    }
  }

  @Test("a client that trusts the authority of an earlier start can connect to a later start")
  func trusted() async throws {
    try await inFolder { folder, file in
      try await start(file)
      var configuration = APNSSimulator.Configuration()
      configuration.certificateAuthorityFile = file
      let simulator = try await APNSSimulator.start(configuration)
      let earlier = try Data(contentsOf: file)
      let curl = try Curl(simulator, folder: folder)
      #expect(try Data(contentsOf: folder.appending(path: "authority.pem")) == earlier)
      let answer = try await curl.send("GET", "/", headers: [], body: [])
      await simulator.stop()
      #expect(answer.exit == 0 && answer.status == 405, "\(answer.log)")
    }
  }

  @Test("without a file for its authority, each push simulator makes an authority of its own")
  func unkept() async throws {
    let simulators = [try await APNSSimulator.start(), try await APNSSimulator.start()]
    #expect(simulators[0].certificateAuthority != simulators[1].certificateAuthority)
    #expect(simulators.map(\.hasNewAuthority) == [true, true])
    for simulator in simulators { await simulator.stop() }
  }

  @Test("a damaged or foreign certificate or key of the authority is refused, and its file stays unchanged")
  func foreign() async throws {
    let (other, otherKey) = try await made()
    let changes: [(name: String, data: Data, part: String)] = [
      ("ca.pem", Data("notes".utf8), "is not a certificate"), ("ca.pem", Data(), "is not a certificate"),
      ("ca.pem", Data([0xFF, 0xFE]), "is not a certificate"),
      ("ca.pem", Data(other.prefix(200)), "is not a certificate"),
      ("ca.pem", other, "a key ca.pem.key that does not belong to it"),
      ("ca.pem", Data(Self.foreignCertificate.utf8), "is not a certificate of a push simulator"),
      ("ca.pem.key", Data("notes".utf8), "a key ca.pem.key that does not belong to it"),
      ("ca.pem.key", otherKey, "a key ca.pem.key that does not belong to it"),
      ("ca.pem.key", Data([0xFF]), "a key ca.pem.key that cannot be read"),
    ]
    for change in changes {
      try await inFolder { folder, file in
        try await start(file)
        let handle = try FileHandle(forWritingTo: folder.appending(path: change.name))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: change.data)
        try handle.close()
        let files = try contents(folder)
        let error = try await error(file)
        #expect(error.code == .authorityInvalid && error.description.contains(change.part), "\(error)")
        #expect(error.description.hasPrefix("ca: the file ") && error.description.contains("new file"))
        #expect(try contents(folder) == files)
      }
    }
  }

  /// Returns the files of another authority.
  private func made() async throws -> (certificate: Data, key: Data) {
    var files: (Data, Data)?
    try await inFolder { _, file in
      try await start(file)
      files = (try Data(contentsOf: file), try Data(contentsOf: URL(filePath: file.path + ".key")))
    }
    return try #require(files)
  }

  @Test("a certificate without its key, a key without its certificate, and a key that others can read are refused")
  func halves() async throws {
    try await inFolder { folder, file in
      let key = URL(filePath: file.path + ".key")
      try await start(file)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key.path)
      #expect(try await error(file).description.contains("Run chmod 600 on the key"))
      try FileManager.default.removeItem(at: key)
      #expect(try await error(file).description.contains("its key ca.pem.key does not"))
      #expect(try contents(folder).keys.sorted() == ["ca.pem"])
      try FileManager.default.moveItem(at: file, to: key)
      #expect(try await error(file).description.contains("a key ca.pem.key does"))
      #expect(try contents(folder).keys.sorted() == ["ca.pem.key"])
    }
  }

  @Test("a missing folder and a dangling link are errors, and no key file is left behind")
  func unwritable() async throws {
    try await inFolder { folder, file in
      #expect(try await error(folder.appending(path: "none/ca.pem")).code == .fileNotWritten)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: folder.appending(path: "none"))
      #expect(try await error(file).code == .authorityInvalid)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ca.pem"])
    }
  }

  /// A certificate of another program.
  private static let foreignCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIBjjCCATWgAwIBAgIUFXtXf2GKmEBeXSo2vrdG7hk2Oj4wCgYIKoZIzj0EAwIw
    HDEaMBgGA1UEAwwRQW5vdGhlciBhdXRob3JpdHkwIBcNMjYxMTI4MDQxNTE4WhgP
    MjEyNjExMDQwNDE1MThaMBwxGjAYBgNVBAMMEUFub3RoZXIgYXV0aG9yaXR5MFkw
    EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEG1ydgabhkSJWSiAc5VstALBFe1DDIj3Z
    JcyywfbiQCZ+1sPMqadQZ5ofrLEbGQhx5Iu1Yz3En+5eEM2TVRiPt6NTMFEwHQYD
    VR0OBBYEFK3F38yjF2hb/kPaU28txg9/IFrTMB8GA1UdIwQYMBaAFK3F38yjF2hb
    /kPaU28txg9/IFrTMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIg
    F2GK1ebrKOvAwV6BS3rtpatA4MKkiWwRNBUc882UbJICIEqC0kagol6vOVdT/8V+
    UR5z/wP7lzfHfrJ0mgL19bdw
    -----END CERTIFICATE-----
    """
}
