// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcer
import Foundation
import Ledger
import Playback
import SpeechServers

/// The figures of `/metrics` that are read at each request.
struct ServiceGauges: Sendable {
  private let startedAt = Date()
  private let announcer: Announcer
  private let ledger: Ledger
  private let clips: Clips
  private let player: LanePlayer?
  private let pushes: PushService?
  private let webhooks: WebhookService?
  private let eventSlots: AccountSlots
  private let batchSlots: AccountSlots
  private let shopWatch: ShopWatch
  private let providers: ProviderHistory
  private let providerPayments: ProviderPayments
  private let setAside: @Sendable () async -> Ledger.SetAsideCounts
  /// The ledger reads all announcements of the lane to count them, so their number is kept for a second.
  private let counts: Remembered<[Ledger.State: Int]>

  init(
    announcer: Announcer, ledger: Ledger, clips: Clips, player: LanePlayer?, pushes: PushService?,
    webhooks: WebhookService?, eventSlots: AccountSlots, batchSlots: AccountSlots, shopWatch: ShopWatch,
    providers: ProviderHistory, providerPayments: ProviderPayments,
    setAside: @escaping @Sendable () async -> Ledger.SetAsideCounts, time: @escaping @Sendable () -> Duration
  ) {
    (self.announcer, self.ledger, self.clips, self.player) = (announcer, ledger, clips, player)
    (self.pushes, self.webhooks, self.shopWatch) = (pushes, webhooks, shopWatch)
    (self.eventSlots, self.batchSlots) = (eventSlots, batchSlots)
    (self.providers, self.providerPayments, self.setAside) = (providers, providerPayments, setAside)
    counts = Remembered(for: .seconds(1), time: time) {
      guard let player else { return [:] }
      return (try? await ledger.counts(lane: player.lane)) ?? [:]
    }
  }

  var now: ServiceMetrics.Gauges {
    get async {
      var gauges = ServiceMetrics.Gauges(startedAt: startedAt)
      let packs = await announcer.packStates()
      gauges.brokenPacks = packs.count { $0.fault != nil }
      gauges.usablePacks = packs.count - gauges.brokenPacks
      gauges.speechServers = announcer.speechServers.statuses
      gauges.cachedBytes = clips.cachedBytes
      gauges.renderQueue = await clips.underWay
      (gauges.eventStreams, gauges.batchStreams) = (eventSlots.count, batchSlots.count)
      let unplayed = try? await ledger.waitingLanes().filter { !$0.isPlayed && $0.lane != player?.lane }
      gauges.waitingUnplayed = unplayed?.reduce(0) { $0 + $1.count }
      if let pushes {
        let waiting = await pushes.waitingCount
        gauges.waitingPushes = waiting
        gauges.unreachablePushServers = pushes.reach.unreachableCount(waiting: waiting)
      }
      if let webhooks {
        let waiting = await webhooks.waitingCount
        gauges.waitingWebhooks = waiting
        gauges.unreachableWebhookEndpoints = webhooks.reach.unreachableCount(waiting: waiting)
      }
      gauges.setAside = await setAside()
      gauges.alarms = await shopWatch.activeAlarms
      gauges.providers = providers.counts
      gauges.waitingProviderPayments = await providerPayments.waitingCount
      gauges.disabledWebhookEndpoints = try? await ledger.disabledWebhookEndpoints().reduce(0) { $0 + $1.count }
      if let player {
        gauges.announcements = Dictionary(uniqueKeysWithValues: await counts.value.map { ($0.key.rawValue, $0.value) })
        if let status = try? await player.player?.status() {
          (gauges.isDeviceLost, gauges.isPaused, gauges.waiting) =
            (status.isDeviceLost, status.isPaused, status.unheardCount)
        }
      }
      return gauges
    }
  }
}
