// SPDX-License-Identifier: Apache-2.0

import HostAddresses
import ServiceAccess
import Testing

@Suite("The address of a client")
struct ClientAddressTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  private func client(_ peer: String?, _ forwardedFor: String..., proxies: String...) throws -> IPAddress? {
    IPAddress.client(
      peer: try peer.map(address), forwardedFor: forwardedFor, proxies: Set(try proxies.map(address)))
  }

  @Test("without a proxy, the client's address is that of the connection, whatever X-Forwarded-For says")
  func direct() throws {
    #expect(try client("192.0.2.1") == address("192.0.2.1"))
    #expect(try client("192.0.2.1", "198.51.100.1", proxies: "127.0.0.1") == address("192.0.2.1"))
    #expect(try client(nil, "198.51.100.1", proxies: "127.0.0.1") == nil)
  }

  @Test("behind a proxy, the client's address is the last one that is not a proxy's, because others may be forged")
  func forwarded() throws {
    let caller = try address("198.51.100.1")
    #expect(try client("127.0.0.1", "198.51.100.1", proxies: "127.0.0.1") == caller)
    #expect(try client("127.0.0.1", "203.0.113.9, 198.51.100.1", proxies: "127.0.0.1") == caller)
    #expect(try client("127.0.0.1", "203.0.113.9", " 198.51.100.1 ", proxies: "127.0.0.1") == caller)
    #expect(try client("127.0.0.1", "198.51.100.1,192.0.2.7", proxies: "127.0.0.1", "192.0.2.7") == caller)
    #expect(try client("127.0.0.1", "198.51.100.1:4711", proxies: "127.0.0.1") == caller)
    #expect(try client("::1", "[2001:db8::1]:4711", proxies: "::1") == address("2001:db8::1"))
  }

  @Test("if a proxy gives no address of the client, the client's address is unknown")
  func unknown() throws {
    #expect(try client("127.0.0.1", proxies: "127.0.0.1") == nil)
    #expect(try client("127.0.0.1", "127.0.0.1", proxies: "127.0.0.1") == nil)
    #expect(try client("127.0.0.1", "198.51.100.1, unknown", proxies: "127.0.0.1") == nil)
  }
}

@Suite("The limit on failures of an address")
struct FailureLimitsTests {
  @Test(
    "an address may fail a limited number of times, and regains attempts over time, separately from other addresses")
  func limit() throws {
    var limits = FailureLimits(try RateLimit(rate: 1, burst: 2))
    let (one, other) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("2001:db8::1")))
    #expect((0..<3).map { _ in limits.take(one, at: .zero).isAllowed } == [true, true, false])
    #expect(limits.take(other, at: .zero).isAllowed)
    let neighbour = try #require(IPAddress("2001:db8::2"))
    #expect(
      limits.take(neighbour, at: .zero).isAllowed && !limits.take(other, at: .zero).isAllowed,
      "both addresses are in one network")
    #expect(limits.take(one, at: .seconds(1)).isAllowed && limits.count == 2)
  }

  @Test("a check of an address uses no attempt, has the result that a failure would have, and stores no address")
  func look() throws {
    var limits = FailureLimits(try RateLimit(rate: 1, burst: 1), capacity: 1)
    let (one, other) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("192.0.3.1")))
    for _ in 0..<3 { #expect(limits.look(one, at: .zero).isAllowed && limits.count == 0) }
    _ = limits.take(one, at: .zero)
    _ = limits.take(other, at: .zero)
    for address in [one, other] { #expect(!limits.look(address, at: .zero).isAllowed) }
    #expect(limits.look(one, at: .seconds(1)).isAllowed)
  }

  @Test("the number of remembered addresses is bounded, and an address that keeps failing is not forgotten")
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
