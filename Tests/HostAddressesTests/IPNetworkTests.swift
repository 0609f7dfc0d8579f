// SPDX-License-Identifier: Apache-2.0

import HostAddresses
import Testing

@Suite("Addresses and networks")
struct IPNetworkTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  @Test(
    "an IP address is parsed in each of its notations, and is printed in one form",
    arguments: [
      ("192.0.2.7", "192.0.2.7"), ("0.0.0.0", "0.0.0.0"), ("::ffff:192.0.2.7", "192.0.2.7"),
      ("::FFFF:c000:207", "192.0.2.7"), ("::", "::"), ("::1", "::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
      ("2001:db8::1:0:0:1", "2001:db8::1:0:0:1"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("fe80::", "fe80::"),
      ("1:2:3:4:5:6:0:8", "1:2:3:4:5:6:0:8"), ("::1.2.3.4", "::102:304"),
    ])
  func addresses(text: String, written: String) throws {
    let address = try #require(IPAddress(text))
    #expect("\(address)" == written)
    #expect(IPAddress(written) == address)
  }

  @Test(
    "an invalid IP address is refused",
    arguments: [
      "", " ", "localhost", "192.0.2", "192.0.2.256", "192.0.2.07", "192.0.2.7.", "1.2.3.4:80", "[::1]", "fe80::1%eth0",
      "::1::", "1:2:3:4:5:6:7:8:9", "12345::", "1.2.3.4\0", "一.2.3.4",
    ])
  func notAddresses(text: String) { #expect(IPAddress(text) == nil) }

  @Test("two IP addresses are equal if they are the same address in different notations")
  func same() throws {
    #expect(try address("::ffff:192.0.2.1") == address("192.0.2.1"))
    #expect(try address("2001:DB8:0:0::1") == address("2001:db8::1"))
    #expect(try address("192.0.2.1") != address("192.0.2.2"))
    #expect(try address("::1") != address("0.0.0.1"))
  }

  @Test("an IPv6 client is identified by 64 bits of its address, and an IPv4 client by the whole address")
  func block() throws {
    #expect(try address("2001:db8:1:2::3").block == address("2001:db8:1:2:ffff::").block)
    #expect(try address("2001:db8:1:2::3").block != address("2001:db8:1:3::3").block)
    #expect(try address("192.0.2.1").block == address("192.0.2.1"))
  }

  @Test(
    "a network contains exactly the IP addresses with its prefix",
    arguments: [
      ("192.0.2.0/24", ["192.0.2.0", "192.0.2.255", "::ffff:192.0.2.9"], ["192.0.3.0", "192.0.1.255", "::c000:207"]),
      ("192.0.2.128/25", ["192.0.2.128"], ["192.0.2.127"]), ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6"]),
      ("0.0.0.0/0", ["255.255.255.255"], ["::1"]), ("::/0", ["2001:db8::"], ["192.0.2.7"]),
      ("2001:db8::/32", ["2001:db8:ffff::1"], ["2001:db9::", "192.0.2.7"]),
      ("2001:db8::8/125", ["2001:db8::f"], ["2001:db8::7", "2001:db8::10"]),
      ("::ffff:192.0.2.0/120", ["192.0.2.7"], ["192.0.3.7"]),
    ])
  func networks(text: String, inside: [String], outside: [String]) throws {
    let network = try IPNetwork(text)
    for address in inside { #expect(network.contains(try #require(IPAddress(address))), "\(address)") }
    for address in outside { #expect(!network.contains(try #require(IPAddress(address))), "\(address)") }
    #expect(try IPNetwork("\(network)") == network)
  }

  @Test(
    "an invalid network is refused, and the error suggests a valid one",
    arguments: [
      ("shop", IPNetwork.Fault.Code.notAnAddress, "192.0.2.0/24"), ("/24", .notAnAddress, "192.0.2.0/24"),
      ("", .notAnAddress, "192.0.2.0/24"), ("192.0.2.0/33", .prefixOutOfRange, "/0 to /32"),
      ("192.0.2.0/", .prefixOutOfRange, "/0 to /32"), ("192.0.2.0/+8", .prefixOutOfRange, "/0 to /32"),
      ("::/129", .prefixOutOfRange, "/0 to /128"), ("::ffff:1.2.3.4/95", .prefixOutOfRange, "/96 to /128"),
      ("192.0.2.7/24", .addressInsideNetwork, "give 192.0.2.0/24"),
      ("2001:db8::1/32", .addressInsideNetwork, "give 2001:db8::/32"),
    ])
  func refused(text: String, code: IPNetwork.Fault.Code, words: String) {
    #expect { try IPNetwork(text) } throws: { error in
      (error as? IPNetwork.Fault)?.code == code && "\(error)".contains(words)
    }
  }

  @Test("bits after a network's prefix can be ignored on request, and other faults are still refused")
  func masked() throws {
    #expect(try IPNetwork("192.0.2.7/24", masksAddress: true) == IPNetwork("192.0.2.0/24"))
    #expect(try IPNetwork("2001:db8::1/32", masksAddress: true) == IPNetwork("2001:db8::/32"))
    for text in ["192.0.2.7/33", "shop"] {
      #expect(throws: IPNetwork.Fault.self) { try IPNetwork(text, masksAddress: true) }
    }
  }
}
