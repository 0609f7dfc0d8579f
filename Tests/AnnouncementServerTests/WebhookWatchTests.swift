// SPDX-License-Identifier: Apache-2.0

import Testing
import WebhookMessages

@testable import AnnouncementServer

@Suite("The watch of webhook endpoints")
struct WebhookWatchTests {
  private func endpoint(_ account: String, _ id: String = "whe_1") -> WebhookWatch.Endpoint {
    WebhookWatch.Endpoint(account: account, id: id)
  }

  @Test("an unreachable endpoint is a fault for its account only, as long as another endpoint is reachable")
  func own() {
    var watch = WebhookWatch()
    _ = watch.reached(endpoint("kiosk"), at: .zero)
    for second in [0, 5, 300] { _ = watch.failed(endpoint("shop"), .unreachable, at: .seconds(second)) }
    let news = watch.due(at: .seconds(300))
    #expect(news.endpoints.map(\.destination) == [endpoint("shop")] && news.endpoints[0].outage.failures == 3)
    #expect(news.all == nil && watch.outageOfAll(at: .seconds(900)) == nil)
    #expect(watch.unreachable(at: .seconds(900)).count == 1)
  }

  @Test("the service has a fault if every webhook endpoint with an attempt is unreachable for a minute")
  func all() {
    var watch = WebhookWatch()
    _ = watch.reached(endpoint("shop"), at: .zero)
    _ = watch.failed(endpoint("shop"), .timedOut, at: .seconds(100))
    _ = watch.failed(endpoint("kiosk"), .unreachable, at: .seconds(110))
    #expect(watch.outageOfAll(at: .seconds(159)) == nil)
    #expect(watch.outageOfAll(at: .seconds(160))?.failures == 2)
    #expect(watch.due(at: .seconds(160)).all?.kind == .unreachable)
    let news = watch.reached(endpoint("kiosk"), at: .seconds(170))
    #expect(news.all?.kind == .reachedAgain && watch.outageOfAll(at: .seconds(900)) == nil)
    #expect(watch.unreachable(at: .seconds(900)).keys.map(\.account) == ["shop"])
  }

  @Test("a success of one webhook endpoint proves for an hour that receivers can be reached")
  func memory() {
    var watch = WebhookWatch()
    _ = watch.reached(endpoint("kiosk"), at: .zero)
    _ = watch.failed(endpoint("shop"), .unreachable, at: .seconds(3_599))
    #expect(watch.outageOfAll(at: .seconds(3_700)) == nil)
    _ = watch.failed(endpoint("shop"), .unreachable, at: .seconds(3_700))
    #expect(watch.outageOfAll(at: .seconds(3_760)) != nil)
  }

  @Test("a refused certificate is a fault of its webhook endpoint alone, and not of the service")
  func certificate() {
    var watch = WebhookWatch()
    _ = watch.failed(endpoint("kiosk"), .unreachable, at: .zero)
    for second in [0, 5, 300] { _ = watch.failed(endpoint("shop"), .certificateRefused, at: .seconds(second)) }
    #expect(watch.outageOfAll(at: .seconds(900)) == nil)
    #expect(watch.unreachable(at: .seconds(900))[endpoint("shop")]?.reason == "certificate_refused")
  }

  @Test("removed and disabled webhook endpoints are forgotten, and the outage of all endpoints ends when none is left")
  func removed() {
    var watch = WebhookWatch()
    _ = watch.failed(endpoint("shop", "whe_1"), .unreachable, at: .zero)
    _ = watch.failed(endpoint("shop", "whe_2"), .unreachable, at: .zero)
    watch.keep([endpoint("shop", "whe_2")])
    #expect(watch.due(at: .seconds(60)).endpoints.map(\.destination.id) == ["whe_2"])
    #expect(watch.isFailing && watch.outageOfAll(at: .seconds(60)) != nil)
    watch.keep([])
    #expect(!watch.isFailing && watch.outageOfAll(at: .seconds(60)) == nil && watch.due(at: .seconds(900)).all == nil)
  }
}
