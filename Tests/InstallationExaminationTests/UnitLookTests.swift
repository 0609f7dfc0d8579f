// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostAddresses
import InstallationDiagnosis
import Testing

@testable import InstallationExamination

@Suite("The examination of the unit of systemd")
struct UnitLookTests {
  /// A resolver that knows one address for every host.
  private struct OneAddress: HostResolving {
    var bytes: [UInt8]
    func addresses(of host: String) async -> [IPAddress] { [IPAddress(bytes: bytes)] }
  }

  private static let apple = OneAddress(bytes: [17, 188, 128, 1])
  private static let dropIn = URL(filePath: "/usr/share/crier/Deployment/network.conf")
  private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

  private let root: TemporaryFolder

  init() throws {
    root = try TemporaryFolder()
    for name in ["crier.service", "crier@.service"] {
      let unit = try String(contentsOf: Self.checkout.appending(path: "Deployment/\(name)"), encoding: .utf8)
      _ = try root.file("lib/systemd/system/\(name)", unit)
    }
  }

  private func look(_ home: String = "/var/lib/crier", hosts: [String] = []) async -> UnitFacts? {
    await UnitLook.look(
      home: URL(filePath: home), hosts: hosts, dropIn: Self.dropIn, root: root.url, resolver: Self.apple)
  }

  @Test("the shipped systemd unit blocks a ledger's server on another machine, and not one on this machine")
  func ledger() async throws {
    func blocked(_ bytes: [UInt8], _ hosts: [String] = ["db1.example"]) async -> [String]? {
      await UnitLook.look(
        home: URL(filePath: "/var/lib/crier"), hosts: [], ledgerHosts: hosts, dropIn: Self.dropIn, root: root.url,
        resolver: OneAddress(bytes: bytes))?.blockedLedgerHosts
    }
    #expect(await blocked([127, 0, 0, 1]) == [])
    #expect(await blocked([192, 168, 1, 7], []) == [])
    #expect(await blocked([192, 168, 1, 7], ["db1.example", "db2.example"]) == ["db1.example", "db2.example"])
    _ = try root.file("etc/systemd/system/crier.service.d/a.conf", "[Service]\nIPAddressAllow=192.168.1.0/24\n")
    #expect(await blocked([192, 168, 1, 7]) == [])
    #expect(await blocked([192, 168, 2, 7]) == ["db1.example"])
  }

  @Test("the shipped systemd unit blocks the network, and the shipped drop-in opens it")
  func shipped() async throws {
    #expect(await look() == UnitFacts(name: "crier.service", isClosed: true, dropIn: Self.dropIn.path))
    let dropIn = try String(contentsOf: Self.checkout.appending(path: "Deployment/network.conf"), encoding: .utf8)
    _ = try root.file("etc/systemd/system/crier.service.d/network.conf", dropIn)
    #expect(await look()?.isClosed == false)
    #expect(await look("/var/lib/crier-west")?.isClosed == true, "the unit of another shop is still closed")
  }

  @Test("the systemd unit of a further shop uses its template's drop-ins, except those that its own drop-ins replace")
  func template() async throws {
    #expect(await look("/var/lib/crier-west")?.name == "crier@west.service")
    _ = try root.file("run/systemd/system/crier@.service.d/a.conf", "[Service]\nIPAddressAllow=any\n")
    #expect(await look("/var/lib/crier-west")?.isClosed == false)
    // A file of the same name that is more specific takes the other one's place.
    _ = try root.file("etc/systemd/system/crier@west.service.d/a.conf", "[Service]\n")
    #expect(await look("/var/lib/crier-west")?.isClosed == true)
    #expect(await look("/var/lib/crier-east")?.isClosed == false)
  }

  @Test("a unit's drop-ins are read in the order of their names, and a unit in /etc replaces the installed unit")
  func order() async throws {
    _ = try root.file("etc/systemd/system/crier.service.d/b.conf", "[Service]\nIPAddressAllow=\n")
    _ = try root.file("usr/lib/systemd/system/crier.service.d/c.conf", "[Service]\nIPAddressAllow=any\n")
    _ = try root.file("etc/systemd/system/crier.service.d/notes.txt", "[Service]\nIPAddressDeny=any\n")
    #expect(await look()?.isClosed == false)
    _ = try root.file("etc/systemd/system/crier.service.d/d.conf", "[Service]\nIPAddressAllow=\nIPAddressDeny=any\n")
    #expect(await look()?.isClosed == true)
    _ = try root.file("etc/systemd/system/crier.service", "[Service]\nEnvironment=CRIER_HOME=/srv/crier\n")
    #expect(await look() == nil)
    #expect(await look("/srv/crier")?.isClosed == true)
  }

  @Test(
    "the examination has no facts about the unit on a machine without it, or for a home without its own unit",
    arguments: ["/srv/crier", "/home/ada/.crier", "/"])
  func otherHome(home: String) async throws {
    #expect(await look(home) == nil)
    try FileManager.default.removeItem(at: root.url.appending(path: "lib"))
    #expect(await look() == nil)
  }

  @Test("the examination names the servers and the name server that a partly open unit blocks")
  func blocked() async throws {
    let rules = "etc/systemd/system/crier.service.d/own.conf"
    _ = try root.file("etc/resolv.conf", "# nobody\nsearch example\nnameserver 192.0.2.53\n")
    _ = try root.file(rules, "[Service]\nIPAddressAllow=18.0.0.0/8\n")
    #expect(
      await look(hosts: ["api.push.apple.com"])?.blockedServers == ["api.push.apple.com", "the name server 192.0.2.53"])
    #expect(await look()?.blockedServers == [], "without pushes, nothing is asked")
    _ = try root.file(rules, "[Service]\nIPAddressAllow=17.0.0.0/8 192.0.2.53\n")
    #expect(await look(hosts: ["api.push.apple.com"])?.blockedServers == [])
  }

  @Test("a process finds its own unit only if systemd has started the process")
  func own() throws {
    _ = try root.file("proc/self/cgroup", "0::/system.slice/crier.service\n")
    func unit(_ environment: [String: String]) -> UnitFacts? {
      UnitLook.ownUnit(environment: environment, dropIn: Self.dropIn, root: root.url)
    }
    #expect(unit(["INVOCATION_ID": "0f"]) == UnitFacts(name: "crier.service", isClosed: true, dropIn: Self.dropIn.path))
    #expect(unit([:]) == nil)
    _ = try root.file("proc/self/cgroup", "0::/system.slice/other.service\n")
    #expect(unit(["INVOCATION_ID": "0f"]) == nil, "its file is not there")
    try FileManager.default.removeItem(at: root.url.appending(path: "proc"))
    #expect(unit(["INVOCATION_ID": "0f"]) == nil)
  }
}
