// SPDX-License-Identifier: Apache-2.0

import HostAddresses
import Testing

@testable import InstallationExamination

@Suite("The network of a unit")
struct UnitNetworkTests {
  private static let unit = """
    [Unit]
    IPAddressAllow=any
    [Service]
    # IPAddressAllow=any
    Environment=CRIER_HOME=/var/lib/crier-%i "OTHER=x"
    IPAddressDeny=any
    IPAddressAllow=localhost
    """

  private func allows(_ network: UnitNetwork, _ address: String) throws -> Bool {
    network.allows(try #require(IPAddress(address)))
  }

  @Test("the network rules of the packaged unit allow only this machine")
  func closed() throws {
    let network = UnitNetwork(texts: [Self.unit], instance: "west")
    #expect(network.isClosed && network.home == "/var/lib/crier-west")
    for address in ["127.0.0.1", "127.0.0.53", "::1"] { #expect(try allows(network, address)) }
    for address in ["17.188.128.1", "192.168.1.1", "2620:149:a44::1"] { #expect(try !allows(network, address)) }
  }

  @Test(
    "a unit's drop-in that allows every address, or denies none, opens the network",
    arguments: [
      "[Service]\nIPAddressAllow=any", "[Service]\nIPAddressDeny=", "[Service]\n IPAddressDeny = \n",
      "[Service]\nIPAddressAllow=192.0.2.1 \\\n any", "[Service]\nIPAddressAllow=0.0.0.0/0 ::/0",
    ])
  func opened(dropIn: String) throws {
    let network = UnitNetwork(texts: [Self.unit, dropIn])
    #expect(try !network.isClosed && allows(network, "17.188.128.1") && allows(network, "2620:149:a44::1"))
  }

  @Test("the network rules with Apple's networks allow Apple's servers and no other machine")
  func apple() throws {
    let network = UnitNetwork(texts: [
      Self.unit, "[Service]\nIPAddressAllow=17.0.0.0/8 2620:149:a44::/48 192.168.1.53/24",
    ])
    #expect(try !network.isClosed && allows(network, "17.57.144.1") && allows(network, "2620:149:a44::7"))
    #expect(try allows(network, "192.168.1.99"), "systemd ignores the bits after the prefix")
    for address in ["18.0.0.1", "8.8.8.8", "2620:149:a45::7"] { #expect(try !allows(network, address)) }
  }

  @Test(
    "network rules that allow only private networks, or that cannot be read, leave the network closed",
    arguments: [
      "IPAddressAllow=192.168.0.0/16 10.0.0.0/8", "IPAddressAllow=link-local multicast fd00::/8", "IPAddressAllow=",
      "IPAddressAllow=everything", "IPAddressAllow=17.0.0.0/99", "#IPAddressAllow=any", ";IPAddressAllow=any",
      "IPAddress",
    ])
  func stillClosed(line: String) {
    #expect(UnitNetwork(texts: [Self.unit, "[Service]\n\(line)"]).isClosed)
  }

  @Test("settings in other sections of a unit are ignored, and an empty list removes the earlier values")
  func sections() throws {
    #expect(UnitNetwork(texts: [Self.unit, "[Install]\nIPAddressAllow=any"]).isClosed)
    let reset = UnitNetwork(texts: [Self.unit, "[Service]\nIPAddressAllow=any", "[Service]\nIPAddressAllow=\n"])
    #expect(try reset.isClosed && !allows(reset, "127.0.0.1"))
    #expect(!UnitNetwork(texts: ["[Service]\nExecStart=/bin/true"]).isClosed, "without rules, everything is allowed")
    #expect(!UnitNetwork(texts: ["[Service]\nIPAddressDeny=10.0.0.0/8"]).isClosed)
  }

  @Test(
    "the unit of a process is found in its control groups",
    arguments: [
      ("0::/system.slice/crier.service\n", "crier.service"),
      ("0::/system.slice/system-crier.slice/crier@west.service/own\n", "crier@west.service"),
      ("12:pids:/system.slice/crier.service\n1:name=systemd:/system.slice/crier.service\n0::/\n", "crier.service"),
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/crier.service\n", nil),
      ("0::/user.slice/user-0.slice/session-3.scope\n", nil), ("0::/\n", nil), ("", nil), ("nonsense\n:::", nil),
    ] as [(String, String?)])
  func unit(cgroups: String, name: String?) {
    #expect(UnitNetwork.unit(inCgroups: cgroups) == name)
  }
}
