// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("Whose request it is, by its address")
struct IPAddressTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  @Test("an address has one value, however it is written")
  func same() throws {
    #expect(try address("::ffff:192.0.2.1") == address("192.0.2.1"))
    #expect(try address("2001:DB8:0:0::1") == address("2001:db8::1"))
    #expect(try address("192.0.2.1") != address("192.0.2.2"))
    #expect(try address("::1") != address("0.0.0.1"))
  }

  @Test("what is no address", arguments: ["", "a", "1.2.3", "1.2.3.4:80", "[::1]", "::1%eth0", "1.2.3.4 ", "_hidden"])
  func none(text: String) { #expect(IPAddress(text) == nil) }

  @Test("a caller of IPv6 has 64 bits of addresses, one of IPv4 a single one")
  func block() throws {
    #expect(try address("2001:db8:1:2::3").block == address("2001:db8:1:2:ffff::").block)
    #expect(try address("2001:db8:1:2::3").block != address("2001:db8:1:3::3").block)
    #expect(try address("192.0.2.1").block == address("192.0.2.1"))
  }

  private func client(_ peer: String?, _ forwardedFor: String..., proxies: String...) throws -> IPAddress? {
    IPAddress.client(
      peer: try peer.map(address), forwardedFor: forwardedFor, proxies: Set(try proxies.map(address)))
  }

  @Test("without a proxy it is the other side of the connection, whatever it says of others")
  func direct() throws {
    #expect(try client("192.0.2.1") == address("192.0.2.1"))
    #expect(try client("192.0.2.1", "198.51.100.1", proxies: "127.0.0.1") == address("192.0.2.1"))
    #expect(try client(nil, "198.51.100.1", proxies: "127.0.0.1") == nil)
  }

  @Test("behind a proxy it is the last address that is no proxy's: what stands before it may be made up")
  func forwarded() throws {
    let caller = try address("198.51.100.1")
    #expect(try client("127.0.0.1", "198.51.100.1", proxies: "127.0.0.1") == caller)
    #expect(try client("127.0.0.1", "203.0.113.9, 198.51.100.1", proxies: "127.0.0.1") == caller)
    #expect(try client("127.0.0.1", "203.0.113.9", " 198.51.100.1 ", proxies: "127.0.0.1") == caller)
    #expect(try client("127.0.0.1", "198.51.100.1,192.0.2.7", proxies: "127.0.0.1", "192.0.2.7") == caller)
    #expect(try client("127.0.0.1", "198.51.100.1:4711", proxies: "127.0.0.1") == caller)
    #expect(try client("::1", "[2001:db8::1]:4711", proxies: "::1") == address("2001:db8::1"))
  }

  @Test("behind a proxy that does not say it, it is nobody's: a proxy is no caller")
  func unknown() throws {
    #expect(try client("127.0.0.1", proxies: "127.0.0.1") == nil)
    #expect(try client("127.0.0.1", "127.0.0.1", proxies: "127.0.0.1") == nil)
    #expect(try client("127.0.0.1", "198.51.100.1, unknown", proxies: "127.0.0.1") == nil)
  }
}

@Suite("How often an address may fail")
struct FailureLimitsTests {
  @Test("so often, then not until some time has passed; and others as often")
  func limit() throws {
    var limits = FailureLimits(try RateLimit(rate: 1, burst: 2))
    let (one, other) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("2001:db8::1")))
    #expect((0..<3).map { _ in limits.take(one, at: .zero).isAllowed } == [true, true, false])
    #expect(limits.take(other, at: .zero).isAllowed)
    let neighbour = try #require(IPAddress("2001:db8::2"))
    #expect(limits.take(neighbour, at: .zero).isAllowed && !limits.take(other, at: .zero).isAllowed, "of one network")
    #expect(limits.take(one, at: .seconds(1)).isAllowed && limits.count == 2)
  }

  @Test("to look takes nothing, finds what a failure would, and remembers nobody")
  func look() throws {
    var limits = FailureLimits(try RateLimit(rate: 1, burst: 1), capacity: 1)
    let (one, other) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("192.0.3.1")))
    for _ in 0..<3 { #expect(limits.look(one, at: .zero).isAllowed && limits.count == 0) }
    _ = limits.take(one, at: .zero)
    _ = limits.take(other, at: .zero)
    for address in [one, other] { #expect(!limits.look(address, at: .zero).isAllowed) }
    #expect(limits.look(one, at: .seconds(1)).isAllowed)
  }

  @Test("it never remembers more than its capacity, and who fails on is not forgotten for others' sake")
  func bounded() throws {
    var limits = FailureLimits(try RateLimit(rate: 0.001, burst: 1), capacity: 10)
    let one = try #require(IPAddress("192.0.2.1"))
    _ = limits.take(one, at: .zero)
    for number in 0..<200 {
      _ = limits.take(try #require(IPAddress("198.51.100.\(number)")), at: .zero)
      #expect(limits.count <= 20)
      if number.isMultiple(of: 5) { #expect(!limits.take(one, at: .zero).isAllowed) }
    }
  }
}
