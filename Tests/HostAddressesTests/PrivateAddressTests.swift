// SPDX-License-Identifier: Apache-2.0

import HostAddresses
import Testing

@Suite("Addresses of hosts")
struct HostAddressTests {
  /// Reads an address as the system does. No name is looked up for an address.
  private func address(_ text: String) async throws -> IPAddress {
    let found = await SystemHostResolver().addresses(of: text)
    #expect(found.count == 1)
    return try #require(found.first)
  }

  @Test(
    "an IP address that is not public counts as private",
    arguments: [
      "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
      "127.255.255.254", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
      "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255",
      "240.0.0.1", "255.255.255.255", "127.1", "0x7f000001", "2130706433", "0177.0.0.1",
      "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::10.1.2.3",
      "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "2002:c0a8:1::1", "3fff::1", "4000::1",
      "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
    ])
  func isPrivate(_ text: String) async throws {
    #expect(try await address(text).isPrivate)
  }

  @Test(
    "an address of the public internet does not count as private",
    arguments: [
      "1.0.0.0", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0", "126.255.255.255",
      "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
      "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
      "2600::1", "2001:200::1", "2a00:1450:4001::1", "::ffff:93.184.216.34", "64:ff9b::93.184.216.34",
      "2002:5db8:d822::1",
    ])
  func isPublic(_ text: String) async throws {
    #expect(try await !address(text).isPrivate)
  }

  @Test("a host name is resolved to its addresses, and is not itself read as an IP address")
  func name() async throws {
    let found = await SystemHostResolver().addresses(of: "localhost")
    #expect(!Set(found).isDisjoint(with: ["127.0.0.1", "::1"].compactMap { IPAddress($0) }))
    #expect(IPAddress(anyNotation: "localhost") == nil)
    #expect(IPAddress(anyNotation: "127.1") == IPAddress("127.0.0.1"))
  }

  @Test("a host that cannot be resolved has no address")
  func unknown() async {
    #expect(await SystemHostResolver().addresses(of: "").isEmpty)
    #expect(await SystemHostResolver().addresses(of: "no host").isEmpty)
    #expect(await SystemHostResolver().addresses(of: "127.0.0.1\0.example").isEmpty)
  }
}
