// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import HTTPTypes
import HostAddresses
import HummingbirdCore
import Ledger
import Logging
import NIOCore
import ServiceAccess
import SQLiteLedger
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Key lookup")
struct KeyRingTests {
  /// A key ring whose clock the test sets.
  private final class Ring: Sendable {
    let folder: TemporaryFolder
    let ledger: any Ledger.Store
    let ledgerFile: URL
    let keys: KeyRing
    private let time = Locked(Duration.zero)
    /// The calendar time, of the ring and of its ledger. It is in whole seconds, as the ledger stores it.
    private let date = Locked(Date(timeIntervalSinceReferenceDate: 800_000_000))
    private let waits = Locked<[Duration]>([])

    init(limit: RateLimit) throws {
      folder = try TemporaryFolder()
      ledgerFile = folder.url.appending(path: "ledger.sqlite")
      ledger = try SQLiteLedger(at: ledgerFile, now: { [date] in date.withLock { $0 } })
      keys = KeyRing(
        ledger: ledger, defaultLimit: limit, date: { [date] in date.withLock { $0 } },
        sleep: { [time, waits] duration in
          waits.withLock { $0.append(duration) }
          time.withLock { $0 += duration }
        },
        time: { [time] in time.withLock { $0 } })
    }

    /// The calendar's time.
    var now: Date { date.withLock { $0 } }
    func advanceCalendar(by seconds: TimeInterval) { date.withLock { $0 += seconds } }

    func wait(_ duration: Duration) { time.withLock { $0 += duration } }

    /// The waits of the ring itself. Each has moved the clock.
    var ownWaits: [Duration] { waits.withLock { $0 } }

    func newKey(
      _ account: String = "shop", rate: NewKey.Rate? = nil, expiresAt: Date? = nil, addresses: [String] = [],
      isStrict: Bool = false
    ) async throws -> APIKey {
      let key = APIKey.make()
      try await ledger.createKey(
        NewKey(
          id: key.id, account: account, digest: key.digest, scopes: ["read"], name: nil, locale: "zh-CN", pack: "p",
          group: "group.a", rate: rate, expiresAt: expiresAt, addresses: addresses, isStrict: isStrict))
      return key
    }

    /// - Parameter address: where the call comes from; nil for nowhere, as on a Unix socket.
    func caller(
      _ authorization: String?, from address: String? = nil, failures: FailureGate? = nil,
      _ fields: [(name: String, value: String)] = []
    ) async throws -> Caller {
      var call = call(authorization, from: address, fields)
      return try await keys.caller(of: &call, failures: failures)
    }

    /// The caller that is known without waiting; nil if the ledger must be asked.
    func remembered(_ authorization: String, from address: String? = nil) throws -> Caller? {
      var call = call(authorization, from: address)
      let caller = try keys.remembered(for: &call)
      #expect(call.keyName == caller?.logName)
      return caller
    }

    private func call(
      _ authorization: String?, from address: String?, _ fields: [(name: String, value: String)] = []
    ) -> Call {
      var head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/v1/playback")
      head.headerFields[.authorization] = authorization
      for (name, value) in fields { head.headerFields[HTTPField.Name(token: name)] = value }
      return Call(
        request: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
        peer: address.flatMap { IPAddress($0) }, client: address.flatMap { IPAddress($0) }, logger: TestLog().logger)
    }

    /// A gate at which an address has used up its failures.
    func gate(closedTo address: String) throws -> FailureGate {
      let gate = FailureGate(try RateLimit(rate: 0.001, burst: 1)) { .zero }
      let call = Call(
        request: Request(
          head: HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/"),
          body: RequestBody(buffer: ByteBuffer())), client: IPAddress(address), logger: TestLog().logger)
      #expect(!gate.isUsedUp(by: call))
      #expect(gate.refusal(of: call) == nil)
      #expect(gate.isUsedUp(by: call))
      return gate
    }

    /// The code of the refusal; nil when there is none.
    func refusal(
      _ authorization: String?, from address: String? = nil, failures: FailureGate? = nil,
      _ fields: [(name: String, value: String)] = []
    ) async throws -> String? {
      do {
        _ = try await caller(authorization, from: address, failures: failures, fields)
        return nil
      } catch {
        let problem = Problem(error)
        return [.unauthorized, .forbidden].contains(problem.status) ? problem.code : "no refusal: \(error)"
      }
    }
  }

  private let ring: Ring

  init() throws { ring = try Ring(limit: RateLimit(rate: 10, burst: 3)) }

  @Test("the caller of a request with a valid key has all settings of the key")
  func known() async throws {
    let key = try await ring.newKey("张三的店")
    for _ in 0..<2 {
      let caller = try await ring.caller("Bearer \(key.text)")
      #expect(caller.keyID == key.id && caller.account == "张三的店" && caller.scopes == [.read] && !caller.isAdmin)
      #expect(caller.defaults == .init(locale: "zh-CN", pack: "p", group: "group.a"))
      #expect(caller.limit == (try RateLimit(rate: 10, burst: 3)))
    }
    #expect(try await ring.refusal("bearer   \(key.text) ") == nil)
  }

  @Test("a request without a key is refused")
  func missing() async throws {
    #expect(try await ring.refusal(nil) == "key_missing")
  }

  @Test(
    "a malformed Authorization header is refused",
    arguments: ["", "Bearer", "Bearer ", "Bearer x", "Basic YTpi", "crier_00000000_abc", "Crier", "Bearer crier_"])
  func malformed(field: String) async throws {
    #expect(try await ring.refusal(field) == "key_malformed")
  }

  @Test("an unknown key is refused")
  func unknown() async throws {
    let key = try await ring.newKey()
    #expect(try await ring.refusal("Bearer \(APIKey.make().text)") == "key_unknown")
    let forged = String(key.text.prefix(15)) + String(APIKey.make().text.dropFirst(15))
    #expect(try await ring.refusal("Bearer \(forged)") == "key_unknown")
  }

  @Test("a new key works at once, even if it was refused before it was created")
  func new() async throws {
    let key = APIKey.make()
    #expect(try await ring.refusal("Bearer \(key.text)") == "key_unknown")
    try await ring.ledger.createKey(NewKey(id: key.id, account: "shop", digest: key.digest, scopes: ["read"]))
    #expect(try await ring.refusal("Bearer \(key.text)") == nil)
  }

  @Test("a revoked key is refused, at the latest when the cache is checked again")
  func revoked() async throws {
    let (key, other) = (try await ring.newKey(), try await ring.newKey())
    #expect(try await ring.refusal("Bearer \(key.text)") == nil)
    try await ring.ledger.revokeKey(key.id)
    ring.wait(KeyCache.memory)
    #expect(try await ring.refusal("Bearer \(key.text)") == "key_unknown")
    #expect(try await ring.refusal("Bearer \(other.text)") == nil)
    try await ring.ledger.revokeKey(other.id)
    ring.wait(KeyCache.memory - .milliseconds(1))
    #expect(
      try await ring.refusal("Bearer \(other.text)") == nil,
      "the cached key may still be accepted for a tenth of a second")
    ring.wait(.milliseconds(1))
    #expect(try await ring.refusal("Bearer \(other.text)") == "key_unknown")
  }

  @Test("the service notices the keys that another process creates and revokes")
  func otherProcess() async throws {
    let other = try SQLiteLedger(at: ring.ledgerFile)
    let key = try await ring.newKey()
    #expect(try await ring.refusal("Bearer \(key.text)") == nil)
    try await other.revokeKey(key.id)
    ring.wait(KeyCache.memory)
    #expect(try await ring.refusal("Bearer \(key.text)") == "key_unknown")
  }

  @Test("each key has its own rate limit or the service's limit, and a key at its limit may send requests again later")
  func limits() async throws {
    let (one, two) = (try await ring.newKey(), try await ring.newKey(rate: .init(perSecond: 1, burst: 1)))
    let (first, second) = (try await ring.caller("Bearer \(one.text)"), try await ring.caller("Bearer \(two.text)"))
    #expect((0..<5).map { _ in ring.keys.admit(first).isAllowed } == [true, true, true, false, false])
    #expect((0..<2).map { _ in ring.keys.admit(second).isAllowed } == [true, false])
    ring.wait(.milliseconds(100))
    #expect(ring.keys.admit(first).isAllowed && !ring.keys.admit(second).isAllowed)
    await ring.keys.recordUse()
    #expect(!ring.keys.admit(first).isAllowed, "recording the use does not fill the bucket")
    ring.wait(.seconds(10))
    await ring.keys.recordUse()
    #expect((0..<4).map { _ in ring.keys.admit(first).isAllowed } == [true, true, true, false])
  }

  @Test("the last use of a key is written to the ledger only if the key was used since the previous write")
  func use() async throws {
    let (one, two) = (try await ring.newKey(), try await ring.newKey())
    _ = ring.keys.admit(try await ring.caller("Bearer \(one.text)"))
    await ring.keys.recordUse()
    let firstUse = try #require(try await ring.ledger.key(id: one.id)?.lastUsedAt)
    #expect(try await ring.ledger.key(id: two.id)?.lastUsedAt == nil)
    #expect(firstUse == ring.now)
    ring.advanceCalendar(by: 60)
    ring.wait(KeyCache.memory)
    _ = ring.keys.admit(try await ring.caller("Bearer \(two.text)"))
    await ring.keys.recordUse()
    #expect(try await ring.ledger.key(id: one.id)?.lastUsedAt == firstUse)
    #expect(try await ring.ledger.key(id: two.id)?.lastUsedAt == ring.now)
  }

  @Test("the ledger gets the time at which a key was last used, even if that time is written later")
  func timeOfUse() async throws {
    let key = try await ring.newKey()
    let caller = try await ring.caller("Bearer \(key.text)")
    _ = ring.keys.admit(caller)
    ring.advanceCalendar(by: 10)
    let lastUse = ring.now
    _ = ring.keys.admit(caller)
    try await ring.ledger.revokeKey(key.id)
    ring.advanceCalendar(by: 37)
    await ring.keys.recordUse()
    let recorded = try await ring.ledger.keys().first
    #expect(recorded?.lastUsedAt == lastUse && recorded?.revokedAt == lastUse)
  }

  @Test("a key is refused from the moment it expires, whether it is cached or not")
  func expired() async throws {
    let key = try await ring.newKey(expiresAt: ring.now + 60)
    let bearer = "Bearer \(key.text)"
    let caller = try await ring.caller(bearer)
    #expect(try ring.remembered(bearer) == caller)
    #expect(ring.keys.isRemembered(caller))
    #expect(try await ring.keys.isInForce(caller))
    ring.advanceCalendar(by: 59)
    #expect(try await ring.refusal(bearer) == nil)
    ring.advanceCalendar(by: 1)
    #expect(!ring.keys.isRemembered(caller))
    #expect { try ring.remembered(bearer) } throws: { Problem($0).code == "key_expired" }
    #expect(try await ring.refusal(bearer) == "key_expired")
    #expect(try await !ring.keys.isInForce(caller))
    ring.wait(KeyCache.memory)
    #expect(try ring.remembered(bearer) == nil, "the ledger must be asked")
    #expect(try await ring.refusal(bearer) == "key_expired")
    #expect(try await !ring.keys.isInForce(caller))
    #expect(try await ring.refusal("Crier \(key.id)") == "signature_missing")
  }

  @Test("a rotated key is valid until the overlap ends, and its successor is valid at once")
  func rotated() async throws {
    let (old, new) = (try await ring.newKey(), APIKey.make())
    let caller = try await ring.caller("Bearer \(old.text)")
    let rotated = try await ring.ledger.rotateKey(old.id, to: new.id, digest: new.digest, overlap: 3600)
    let end = try #require(rotated?.old.expiresAt)
    ring.wait(KeyCache.memory)
    for key in [old, new] { #expect(try await ring.refusal("Bearer \(key.text)") == nil) }
    #expect(try await ring.keys.isInForce(caller))
    ring.advanceCalendar(by: end.timeIntervalSince(ring.now))
    #expect(try await ring.refusal("Bearer \(old.text)") == "key_expired")
    #expect(try await !ring.keys.isInForce(caller))
    #expect(try await ring.refusal("Bearer \(new.text)") == nil)
  }

  @Test("a key with a list of addresses is valid only from these addresses, and is refused if the address is unknown")
  func addresses() async throws {
    let key = try await ring.newKey(addresses: ["192.0.2.0/24", "2001:db8::7"])
    let bearer = "Bearer \(key.text)"
    for address in ["192.0.2.7", "::ffff:192.0.2.9", "2001:db8::7"] {
      #expect(try await ring.refusal(bearer, from: address) == nil, "\(address)")
    }
    for address in ["192.0.3.7", "2001:db8::8", "::1", nil] {
      #expect(try await ring.refusal(bearer, from: address) == "address_not_allowed", "\(address ?? "nowhere")")
    }
    #expect(try ring.remembered(bearer, from: "192.0.2.7") != nil)
    #expect { try ring.remembered(bearer, from: "192.0.3.7") } throws: { Problem($0).code == "address_not_allowed" }
    let unreadable = try await ring.newKey(addresses: ["a newer notation".replacing(" ", with: "-")])
    #expect(try await ring.refusal("Bearer \(unreadable.text)", from: "192.0.2.7") == "address_not_allowed")
  }

  @Test("for an address with too many failures, unknown keys cause no ledger lookup, and valid keys work")
  func suspect() async throws {
    let address = "192.0.2.1"
    let gate = try ring.gate(closedTo: address)
    let (known, unseen) = (try await ring.newKey(), try await ring.newKey())
    #expect(try await ring.refusal("Bearer \(known.text)") == nil)
    for key in [known, unseen] {
      #expect(try await ring.refusal("Bearer \(key.text)", from: address, failures: gate) == nil)
    }
    // The time stands still, so the cached keys are always new. Only a ring that reads the ledger again finds this key.
    let late = try await ring.newKey()
    let signed = SignedRequest(
      signing: .init(method: "GET", target: "/v1/playback"), with: late.digest,
      at: Int64(ring.now.timeIntervalSince1970))
    for authorization in ["Bearer \(late.text)", "Crier \(late.id)"] {
      let code = try await ring.refusal(authorization, from: address, failures: gate, signed.headerFields)
      #expect(code == "key_unknown", "\(authorization)")
    }
    #expect(try await ring.refusal("Bearer \(late.text)", from: "192.0.3.1", failures: gate) == nil)
    let later = try await ring.newKey()
    #expect(try await ring.refusal("Bearer \(later.text)", from: address, failures: gate) == "key_unknown")
    ring.wait(KeyCache.memory)
    #expect(try await ring.refusal("Bearer \(later.text)", from: address, failures: gate) == nil)
    #expect(try await ring.refusal("Crier \(late.id)", from: address, failures: gate, signed.headerFields) == nil)
    try await ring.ledger.revokeKey(later.id)
    ring.wait(KeyCache.memory)
    #expect(try await ring.refusal("Bearer \(later.text)", from: address, failures: gate) == "key_unknown")
  }

  @Test(
    "a key newer than the list of keys is accepted, even from an address with failures, once the list is read again")
  func newerThanTheRoster() async throws {
    let address = "192.0.2.1"
    let gate = try ring.gate(closedTo: address)
    _ = try await ring.newKey()
    let unknown = APIKey.make()
    #expect(try await ring.refusal("Bearer \(unknown.text)", from: address, failures: gate) == "key_unknown")
    #expect(ring.ownWaits.isEmpty, "the list was read just now")
    let newer = try await ring.newKey()
    ring.wait(.milliseconds(30))
    #expect(try await ring.refusal("Bearer \(newer.text)", from: address, failures: gate) == nil)
    #expect(ring.ownWaits == [KeyCache.memory - .milliseconds(30)])
  }

  @Test("a request is handled strictly if its key is strict")
  func strict() async throws {
    #expect(try await ring.caller("Bearer \(try await ring.newKey(isStrict: true).text)").isStrict)
    #expect(try await !ring.caller("Bearer \(try await ring.newKey().text)").isStrict)
  }
}
