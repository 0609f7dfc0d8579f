// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostAddresses
import Testing
import WebhookDelivery
import WebhookMessages

/// The suites with servers. They run one after the other, because servers and clients give up after a time in which
/// they got no processor.
@Suite(.serialized) enum Networked {}

extension Networked {
  @Suite("The client of webhooks", .timeLimit(.minutes(5)))
  struct WebhookClientTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let message = WebhookMessage(
      id: "msg_0123456789abcdef0123456789abcdef", body: Data(#"{"type":"test.ping","data":{}}"#.utf8))

    private func send(
      _ path: String, to receiver: Receiver, with client: WebhookClient? = nil
    ) async -> WebhookClient.Answer {
      let used = client ?? receiver.client()
      let answer = await used.send(
        Self.message, to: receiver.url(path), secrets: [receiver.secret], at: Self.now)
      if client == nil { await used.close() }
      return answer
    }

    @Test("a webhook message arrives unchanged and signed, with the host's name and the path")
    func delivered() async throws {
      let receiver = try await Receiver()
      #expect(
        await send("status/204?key=1", to: receiver)
          == WebhookClient.Answer(.delivered, status: 204, couldConnect: true))
      let request = try #require(try await receiver.received(1).first)
      #expect(request.genuine && request.path == "/status/204?key=1")
      #expect(request.host == "shop.example:\(receiver.port)" && request.type == "application/json")
      #expect(request.id == Self.message.id && request.timestamp == "1800000000")
      #expect(Data(request.body.utf8) == Self.message.body)
    }

    @Test(
      "each kind of answer to a webhook has its own outcome, and the message is sent only once",
      arguments: [
        ("status/200", WebhookOutcome.delivered), ("status/301", .redirected), ("status/307", .redirected),
        ("status/400", .refused), ("status/404", .refused), ("status/410", .gone), ("status/500", .serverFailed),
        ("status/502", .serverFailed), ("close", .closedEarly), ("nonsense", .answerInvalid), ("big", .delivered),
      ])
    func outcomes(path: String, outcome: WebhookOutcome) async throws {
      let receiver = try await Receiver()
      #expect(await send(path, to: receiver).outcome == outcome)
      #expect(try await receiver.received(1).count == 1, "a redirect is not followed, and nothing is sent again")
    }

    @Test(
      "an answer to a webhook is invalid if its status is invalid, or if it ends with an informational status",
      arguments: [
        "000 x", "001 x", "042 x", "099 x", "600 x", "999 x", "101 Switching Protocols", "100 Continue",
      ])
    func oddStatus(status: String) async throws {
      let receiver = try await Receiver()
      for rest in ["\r\ncontent-length: 0\r\n\r\n", "\r\ncontent-length: 3\r\n\r\nabc", "\r\n\r\nabc"] {
        let text = "HTTP/1.1 \(status)\(rest)".addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        let outcome = await send("raw/\(try #require(text))", to: receiver).outcome
        // After an informational answer, a final answer is expected. Other bytes are not HTTP.
        let expected: [WebhookOutcome] = status.hasPrefix("100") ? [.answerInvalid, .closedEarly] : [.answerInvalid]
        #expect(expected.contains(outcome), "\(status)\(rest)")
      }
    }

    @Test("bytes after a complete answer to a webhook on the same connection are ignored")
    func twoAnswers() async throws {
      let receiver = try await Receiver()
      for second in ["HTTP/1.1 099 x\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "garbage"] {
        let text = "HTTP/1.1 204 No Content\r\n\r\n\(second)"
          .addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        #expect(await send("raw/\(try #require(text))", to: receiver).outcome == .delivered)
      }
      #expect(await send("status/204", to: receiver).outcome == .delivered)
    }

    @Test("an attempt to a receiver that stalls ends at the time limit")
    func stalls() async throws {
      let receiver = try await Receiver()
      let client = receiver.client(longest: .milliseconds(300))
      let stalled = await send("stall", to: receiver, with: client)
      #expect(stalled.outcome == .timedOut && stalled.couldConnect == true)
      await client.close()
    }

    @Test("an answer to a webhook counts by its status, even if its body does not arrive within the time limit")
    func drips() async throws {
      let receiver = try await Receiver()
      let client = receiver.client(longest: .seconds(1))
      let start = ContinuousClock.now
      #expect(
        await send("drip", to: receiver, with: client)
          == WebhookClient.Answer(.delivered, status: 200, couldConnect: true))
      // The whole body would take 200 s.
      #expect(ContinuousClock.now - start < .seconds(100))
      await client.close()
    }

    @Test(
      "a host whose address is not found in time is unreachable, and the message is signed after the address is found")
    func slowLookUp() async throws {
      let receiver = try await Receiver()
      var settings = WebhookClient.Settings()
      settings.allowsPrivateAddresses = true
      settings.longest = .milliseconds(200)
      let resolver = StuckResolver()
      let client = WebhookClient(settings: settings, resolver: resolver)
      #expect(await send("status/204", to: receiver, with: client).outcome == .unreachable)
      // A sender that stops does not wait for name servers either.
      settings.longest = .seconds(3_600)
      let patient = WebhookClient(settings: settings, resolver: resolver)
      let sending = Task { await send("status/204", to: receiver, with: patient) }
      await resolver.asked(2)
      sending.cancel()
      #expect(await sending.value.outcome == .unreachable)
      resolver.letGo()
      await client.close()
      await patient.close()
      #expect(receiver.requestsSoFar.isEmpty)
    }

    @Test("the client of webhooks returns the pause that the receiver asks for")
    func pause() async throws {
      let receiver = try await Receiver()
      let answer = await send("status/503", to: receiver)
      #expect(answer == WebhookClient.Answer(.serverFailed, status: 503, requestedPause: 600, couldConnect: true))
    }

    @Test("a trusted certificate for the receiver's host is accepted, and the connection is reused")
    func encrypted() async throws {
      let receiver = try await Receiver(certified: Receiver.host)
      let client = receiver.client()
      for _ in 0..<3 { #expect(await send("status/204", to: receiver, with: client).outcome == .delivered) }
      await client.close()
      let requests = try await receiver.received(3)
      #expect(requests.count == 3 && requests.allSatisfy(\.genuine))
      #expect(Set(requests.map(\.client)).count == 1)
    }

    @Test("a receiver's certificate that is untrusted or for another host is refused before anything is sent")
    func certificates() async throws {
      let other = try await Receiver(certified: "other.example")
      let refused = await send("status/204", to: other)
      #expect(refused.outcome == .certificateRefused && refused.couldConnect == false)
      let untrusted = try await Receiver(certified: Receiver.host)
      let client = untrusted.client(trustRoots: other.certificate)
      #expect(await send("status/204", to: untrusted, with: client).outcome == .certificateRefused)
      await client.close()
      #expect(other.requestsSoFar.isEmpty && untrusted.requestsSoFar.isEmpty)
    }

    @Test("a host without an address, a closed port, and a server without TLS are unreachable")
    func unreachable() async throws {
      let receiver = try await Receiver()
      let client = receiver.client()
      for url in [
        "http://nobody.example/", "http://shop.example:1/", "https://shop.example:\(receiver.port)/status/204",
      ] {
        let answer = await client.send(Self.message, to: url, secrets: [receiver.secret], at: Self.now)
        #expect(answer.outcome == .unreachable && answer.couldConnect == false, "\(url)")
      }
      await client.close()
      #expect(receiver.requestsSoFar.isEmpty)
    }

    @Test(
      "a receiver whose host has a private address is refused before a connection, even if it also has a public one")
    func privateAddress() async throws {
      let receiver = try await Receiver(certified: Receiver.host)
      var settings = WebhookClient.Settings()
      settings.trustRoots = receiver.certificate
      let publicAddress = IPAddress(bytes: [93, 184, 216, 34])
      for addresses in [
        [TableResolver.loopback], [publicAddress, TableResolver.loopback], [IPAddress(bytes: [10, 0, 0, 7])],
        [IPAddress(bytes: [169, 254, 169, 254])], [IPAddress(bytes: Array(repeating: 0, count: 15) + [1])],
        [IPAddress(bytes: Array(repeating: 0, count: 10) + [255, 255, 127, 0, 0, 1])],
      ] {
        let client = WebhookClient(settings: settings, resolver: TableResolver([Receiver.host: addresses]))
        let answer = await send("status/204", to: receiver, with: client)
        #expect(answer.outcome == .addressRefused && answer.couldConnect == nil)
        await client.close()
      }
      // The system reads other ways to write an address too.
      let client = WebhookClient(settings: settings)
      for host in ["127.0.0.1", "localhost", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1"] {
        let answer = await client.send(
          Self.message, to: receiver.url("status/204", host: host), secrets: [receiver.secret], at: Self.now)
        #expect(answer.outcome == .addressRefused, "\(host)")
      }
      let unencrypted = await client.send(
        Self.message, to: "http://93.184.216.34/", secrets: [receiver.secret], at: Self.now)
      #expect(unencrypted.outcome == .addressRefused)
      await client.close()
      #expect(receiver.requestsSoFar.isEmpty)
    }

    @Test("a receiver's name is resolved once for each attempt, and the connection goes to the checked address")
    func rebinding() async throws {
      let receiver = try await Receiver()
      // No other resolver knows this name, so a second look-up by the connection itself would fail.
      let resolver = TableResolver(["rebinding.example": [TableResolver.loopback]])
      var settings = WebhookClient.Settings()
      settings.allowsPrivateAddresses = true
      let client = WebhookClient(settings: settings, resolver: resolver)
      for attempt in 1...2 {
        let answer = await client.send(
          Self.message, to: receiver.url("status/204", host: "rebinding.example"), secrets: [receiver.secret],
          at: Self.now)
        #expect(answer.outcome == .delivered && resolver.lookUps == attempt)
      }
      await client.close()
      #expect(
        try await receiver.received(2).map(\.host) == Array(repeating: "rebinding.example:\(receiver.port)", count: 2)
      )
    }

    @Test("another address of the receiver's host is tried if the first address refuses the connection")
    func otherAddress() async throws {
      let receiver = try await Receiver()
      var settings = WebhookClient.Settings()
      settings.allowsPrivateAddresses = true
      // Nothing listens on the second address of the loopback network.
      let resolver = TableResolver([Receiver.host: [IPAddress(bytes: [127, 0, 0, 2]), TableResolver.loopback]])
      let client = WebhookClient(settings: settings, resolver: resolver)
      #expect(await send("status/204", to: receiver, with: client).outcome == .delivered)
      await client.close()
    }
  }
}
