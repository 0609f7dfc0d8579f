// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcer
import Foundation
import Ledger
import Playback
import SpeechServers

/// The figures of `/metrics` that are read at each request.
struct ServiceGauges: Sendable {
  let startedAt = Date()
  let announcer: Announcer
  let ledger: any Ledger.Store
  let clips: Clips
  let player: LanePlayer?
  let pushes: PushService?
  let webhooks: WebhookService?
  let eventSlots: AccountSlots
  let batchSlots: AccountSlots
  let shopWatch: ShopWatch
  let providers: ProviderHistory
  let providerPayments: ProviderPayments
  let setAside: @Sendable () async -> Ledger.SetAsideCounts
  /// The number of the lane's announcements in each state. The ledger reads all announcements of the lane to count
  /// them, so the numbers are kept for a second.
  let counts: Remembered<[Ledger.State: Int]>
  let nodes: NodeService?

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
      gauges.nodes = await nodes?.nodes() ?? []
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
