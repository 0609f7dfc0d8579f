// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import PushDelivery
import SpeechServers
import WebhookMessages

/// The service's metrics, in the text format of Prometheus, version 0.0.4.
///
/// The format is written by hand (decision 31). The paths come from the route table, so that clients cannot create new
/// series.
final class ServiceMetrics: Sendable {
  enum Counter: String, Sendable, CaseIterable {
    case clipsFromMemory = "memory"
    case clipsFromDisk = "disk"
    /// The clip was already being made for another request.
    case clipsShared = "shared"
  }

  /// What became of an attempt to make a clip again whose file is not here.
  enum Remaking: String, Sendable, CaseIterable {
    case made
    /// This node makes another clip of the announcement, because its packs or its engine differ, or because a speech
    /// server spoke.
    case differs
    /// The account that announced the clip has no more work.
    case refused
    case failed
  }

  struct RequestSeries: Sendable, Hashable, Comparable {
    var method: String
    var path: String
    var status: Int

    static func < (one: Self, other: Self) -> Bool {
      (one.path, one.method, one.status) < (other.path, other.method, other.status)
    }
  }

  /// The upper bounds of the buckets, in seconds. They cover cache hits, cache misses and waits.
  private static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  private struct Histogram {
    var buckets = Array(repeating: 0, count: ServiceMetrics.bounds.count)
    var count = 0
    var sum = 0.0

    mutating func add(_ seconds: Double) {
      if let index = ServiceMetrics.bounds.firstIndex(where: { seconds <= $0 }) { buckets[index] += 1 }
      count += 1
      sum += seconds
    }
  }

  private struct State {
    var requests: [RequestSeries: Int] = [:]
    var latencies: [String: Histogram] = [:]
    var clips: [Counter: Int] = [:]
    var renders: [String: Histogram] = [:]
    var underWay = 0
    var refusals: [String: Int] = [:]
    var batchRows = 0
    var batchFailures = 0
    var pushes: [String: Int] = [:]
    var resentPushes = 0
    var topicStops = 0
    var stoppedTopics: Set<PushSchedule.Topic> = []
    var refusedTokens = 0
    var pushConnectionFailures: [PushTransportError.Code: Int] = [:]
    var webhookAttempts: [WebhookOutcome: Int] = [:]
    var webhooks: [Ledger.Webhook.State: Int] = [:]
    var fallbacks: [String: Int] = [:]
    var remakings: [Remaking: Int] = [:]
  }

  private let state = Locked(State())

  func begin() { state.withLock { $0.underWay += 1 } }

  /// Counts a request that was answered after ``begin()``.
  func end(_ series: RequestSeries, took duration: Duration) {
    state.withLock { state in
      state.underWay -= 1
      state.requests[series, default: 0] += 1
      state.latencies[series.path, default: Histogram()].add(duration.inSeconds)
    }
  }

  func count(_ counter: Counter) { state.withLock { $0.clips[counter, default: 0] += 1 } }

  func count(remaking outcome: Remaking) { state.withLock { $0.remakings[outcome, default: 0] += 1 } }

  func countRender(method: String, took duration: Duration) {
    state.withLock { $0.renders[method, default: Histogram()].add(duration.inSeconds) }
  }

  /// Counts a clip that a fallback voice spoke in place of a speech server.
  func countFallback(_ reason: String) { state.withLock { $0.fallbacks[reason, default: 0] += 1 } }

  /// Counts a request that was refused because a limit was reached.
  func countRefusal(_ code: String) { state.withLock { $0.refusals[code, default: 0] += 1 } }

  func countBatchRow(isFailure: Bool) {
    state.withLock { state in
      state.batchRows += 1
      if isFailure { state.batchFailures += 1 }
    }
  }

  /// Counts a push that has ended in a state.
  func countPush(_ state: String) { self.state.withLock { $0.pushes[state, default: 0] += 1 } }

  /// Counts pushes that are sent again after a crash, because nobody knows whether they were sent.
  func countResentPushes(_ count: Int) { self.state.withLock { $0.resentPushes += count } }

  /// Counts that the pushes to an app stopped because APNs refuses all of them.
  func countStop(of topic: PushSchedule.Topic) {
    state.withLock { state in
      state.topicStops += 1
      state.stoppedTopics.insert(topic)
    }
  }

  /// Notes that APNs accepts the pushes to an app again.
  func countResumption(of topic: PushSchedule.Topic) { state.withLock { _ = $0.stoppedTopics.remove(topic) } }

  /// Counts a device token that APNs refused as bad.
  func countRefusedToken() { self.state.withLock { $0.refusedTokens += 1 } }

  /// Counts an attempt to send a push that got no answer.
  func countPushConnectionFailure(_ code: PushTransportError.Code) {
    state.withLock { $0.pushConnectionFailures[code, default: 0] += 1 }
  }

  /// Counts an attempt to send a message to a webhook endpoint.
  func countWebhookAttempt(_ outcome: WebhookOutcome) {
    state.withLock { $0.webhookAttempts[outcome, default: 0] += 1 }
  }

  /// Counts messages to webhook endpoints that have ended in a state.
  func countWebhooks(_ state: Ledger.Webhook.State, _ count: Int) {
    self.state.withLock { $0.webhooks[state, default: 0] += count }
  }

  /// The present values that other parts of the service provide.
  struct Gauges: Sendable {
    var cachedBytes = 0
    var renderQueue = 0
    var announcements: [String: Int] = [:]
    var isDeviceLost: Bool?
    var isPaused: Bool?
    var waiting: Int?
    /// The number of announcements that wait on outputs without a player.
    var waitingUnplayed: Int?
    /// The number of installed voice packs that can speak, and the number of broken ones.
    var usablePacks = 0
    var brokenPacks = 0
    var speechServers: [SpeechServerVoice.Status] = []
    var eventStreams = 0
    var batchStreams = 0
    /// The number of pushes that have not ended; nil if the service sends no pushes.
    var waitingPushes: Int?
    /// The number of servers of APNs that cannot be reached; nil if the service sends no pushes.
    var unreachablePushServers: Int?
    /// The number of messages to webhook endpoints that have not ended; nil if the service sends no messages.
    var waitingWebhooks: Int?
    /// The number of webhook endpoints that cannot be reached; nil if the service sends no messages to endpoints.
    var unreachableWebhookEndpoints: Int?
    /// The numbers of deliveries that are set aside.
    var setAside = Ledger.SetAsideCounts()
    /// The outcomes of the requests and payments of providers since the start, and the number of payments that wait.
    var providers: [ProviderHistory.Outcome: Int] = [:]
    var waitingProviderPayments = 0
    /// The number of disabled webhook endpoints; nil if it is not known.
    var disabledWebhookEndpoints: Int?
    /// The alarms that are on.
    var alarms: Set<Alarm> = []
    /// The nodes that share the ledger; empty if only one machine can use it.
    var nodes: [Ledger.Node] = []
    var startedAt = Date()
  }

  func text(_ gauges: Gauges) -> String {
    let state = state.withLock { $0 }
    var page = Page()
    page.family("crier_requests_total", "counter", "Requests answered, by call and status.")
    for (series, count) in state.requests.sorted(by: { $0.key < $1.key }) {
      page.line(
        "crier_requests_total", [("method", series.method), ("path", series.path), ("status", String(series.status))],
        String(count))
    }
    page.figure(
      "crier_requests_in_flight", "gauge", "Requests that are being answered.", max(0, state.underWay))
    page.family(
      "crier_request_duration_seconds", "histogram",
      "Time from the head of a request to the head of its response, in seconds.")
    for (path, histogram) in state.latencies.sorted(by: { $0.key < $1.key }) {
      page.histogram("crier_request_duration_seconds", ("path", path), histogram)
    }
    // These codes are listed from the start; others are listed once they have occurred.
    let usual = ["engine_busy", "rate_limited", "busy", "account_busy", "daily_limit", "too_many_failures"]
    let codes = usual + state.refusals.keys.filter({ !usual.contains($0) }).sorted()
    page.figures(
      "crier_refusals_total", "counter", "Requests refused because a limit was reached, by code.", by: "code",
      codes.map { ($0, state.refusals[$0] ?? 0) })
    page.figures(
      "crier_cache_hits_total", "counter",
      "Requested clips that existed in memory or on disk, or were already being rendered.", by: "tier",
      Counter.allCases.map { ($0.rawValue, state.clips[$0] ?? 0) })
    page.figure("crier_cache_bytes", "gauge", "Size of the clips in memory, in bytes.", gauges.cachedBytes)
    page.family(
      "crier_render_duration_seconds", "histogram", "Time to render a new clip, by method, in seconds.")
    for method in ["clips", "mixed", "speech"] {
      page.histogram("crier_render_duration_seconds", ("method", method), state.renders[method] ?? Histogram())
    }
    page.figure(
      "crier_engine_queue", "gauge", "Clips that are being rendered or are waiting for the engine.", gauges.renderQueue)
    page.figures(
      "crier_batch_rows_total", "counter", "Finished rows of batches, by outcome.", by: "outcome",
      [("done", state.batchRows - state.batchFailures), ("failed", state.batchFailures)])
    page.figures(
      "crier_announcements", "gauge", "Announcements for the player in the ledger, by state.", by: "state",
      gauges.announcements.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    page.figures(
      "crier_push_outcomes_total", "counter", "Pushes that have ended, by outcome.", by: "outcome",
      ["delivered", "failed", "expired", "unregistered"].map { ($0, state.pushes[$0] ?? 0) })
    page.figure("crier_push_waiting", "gauge", "Pushes that have not ended.", gauges.waitingPushes)
    page.figure(
      "crier_push_resent_total", "counter", "Pushes that were sent again because the service ended while sending them.",
      state.resentPushes)
    page.figure(
      "crier_push_app_stops_total", "counter", "Times that APNs refused all pushes to an app.", state.topicStops)
    page.figure(
      "crier_push_stopped_apps", "gauge", "Apps whose pushes wait because APNs refuses all of them.",
      state.stoppedTopics.count)
    page.figure(
      "crier_push_token_refusals_total", "counter", "Device tokens that APNs refused as bad.", state.refusedTokens)
    page.figures(
      "crier_push_connection_failures_total", "counter", "Attempts to send pushes that got no answer, by reason.",
      by: "reason",
      PushTransportError.Code.allCases.filter { $0 != .closed }.map {
        ($0.rawValue, state.pushConnectionFailures[$0] ?? 0)
      })
    page.figure(
      "crier_push_unreachable_servers", "gauge", "Servers of APNs that have been unreachable for at least a minute.",
      gauges.unreachablePushServers)
    page.figures(
      "crier_webhook_attempts_total", "counter", "Attempts to send messages to webhook endpoints, by outcome.",
      by: "outcome", WebhookOutcome.allCases.map { ($0.rawValue, state.webhookAttempts[$0] ?? 0) })
    page.figures(
      "crier_webhook_messages_total", "counter", "Messages to webhook endpoints that have ended, by outcome.",
      by: "outcome",
      Ledger.Webhook.State.allCases.filter { $0 != .waiting }.map { ($0.rawValue, state.webhooks[$0] ?? 0) })
    page.figure(
      "crier_webhook_waiting", "gauge", "Messages to webhook endpoints that have not ended.", gauges.waitingWebhooks)
    page.figure(
      "crier_webhook_unreachable_endpoints", "gauge",
      "Webhook endpoints that have been unreachable for at least a minute.",
      gauges.unreachableWebhookEndpoints)
    page.figure(
      "crier_webhook_endpoints_disabled", "gauge", "Webhook endpoints that are disabled.",
      gauges.disabledWebhookEndpoints)
    page.figures(
      "crier_provider_events_total", "counter", "Events of payment providers' webhooks, by outcome.", by: "outcome",
      ProviderHistory.Outcome.allCases.map { ($0.rawValue, gauges.providers[$0] ?? 0) })
    page.figure(
      "crier_provider_waiting", "gauge", "Payments of providers that are not announced yet.",
      gauges.waitingProviderPayments)
    page.figures(
      "crier_set_aside", "gauge", "Deliveries that are set aside after two interrupted attempts in a row, by kind.",
      by: "kind",
      [
        ("announcement", gauges.setAside.announcements), ("push", gauges.setAside.pushes),
        ("webhook", gauges.setAside.webhooks), ("provider_payment", gauges.setAside.providerPayments),
        ("batch", gauges.setAside.batches),
      ])
    page.figure(
      "crier_player_device_lost", "gauge", "1 while the player is waiting for its device.",
      gauges.isDeviceLost.map { $0 ? 1 : 0 })
    page.figure(
      "crier_player_paused", "gauge", "1 while the player is paused.", gauges.isPaused.map { $0 ? 1 : 0 })
    page.figure("crier_player_waiting", "gauge", "Announcements that are waiting to be played.", gauges.waiting)
    page.figure(
      "crier_unplayed_waiting", "gauge", "Announcements that are waiting on outputs that no process plays.",
      gauges.waitingUnplayed)
    page.figures(
      "crier_voice_packs", "gauge", "Installed voice packs, by state.", by: "state",
      [("usable", gauges.usablePacks), ("broken", gauges.brokenPacks)])
    page.figures(
      "crier_speech_server_up", "gauge", "1 while a speech server is used, 0 while it is not used because it failed.",
      by: "server", gauges.speechServers.map { ($0.id, $0.state == .closed ? 1 : 0) })
    page.figures(
      "crier_voice_fallbacks_total", "counter",
      "Clips that another voice spoke, in whole or in part, instead of the speech server, by reason.", by: "reason",
      state.fallbacks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    page.figures(
      "crier_clips_remade_total", "counter",
      "Clips without a file here that were to be made again from the ledger, by outcome.", by: "outcome",
      Remaking.allCases.map { ($0.rawValue, state.remakings[$0] ?? 0) })
    page.figure("crier_event_streams", "gauge", "Open event streams.", gauges.eventStreams)
    page.figure("crier_batch_streams", "gauge", "Open streams of batch progress.", gauges.batchStreams)
    page.figures(
      "crier_alarm", "gauge", "1 while an alarm is on, by alarm.", by: "alarm",
      Alarm.allCases.map { ($0.rawValue, gauges.alarms.contains($0) ? 1 : 0) })
    if !gauges.nodes.isEmpty { Self.add(gauges.nodes, to: &page) }
    page.figure(
      "crier_start_time_seconds", "gauge", "Time when the service started, in seconds since 1970-01-01T00:00:00Z.",
      Int(gauges.startedAt.timeIntervalSince1970))
    return page.text
  }

  private static func add(_ nodes: [Ledger.Node], to page: inout Page) {
    func labels(_ node: Ledger.Node) -> [(String, String)] { [("node", node.id), ("host", node.description.host)] }
    page.family("crier_node_seen_seconds", "gauge", "Time since a node was last heard of.")
    for node in nodes { page.line("crier_node_seen_seconds", labels(node), String(node.silence)) }
    page.family("crier_lease_holder", "gauge", "1 for the node that makes deliveries, by the kind of the deliveries.")
    for node in nodes {
      for kind in node.deliveries.map(\.rawValue).sorted() {
        page.line("crier_lease_holder", [("deliveries", kind)] + labels(node), "1")
      }
    }
    page.family("crier_node_lanes", "gauge", "Outputs that a node plays.")
    for node in nodes { page.line("crier_node_lanes", labels(node), String(node.lanes.count)) }
    page.family("crier_node_batches", "gauge", "Batches that a node works on.")
    for node in nodes { page.line("crier_node_batches", labels(node), String(node.batches)) }
    page.family(
      "crier_node_differs", "gauge",
      "1 for a node that has something other than most nodes, by the thing that must be the same.")
    for difference in Ledger.NodeDifference.all(among: nodes) {
      for node in difference.deviating {
        page.line("crier_node_differs", [("thing", difference.thing.rawValue)] + labels(node), "1")
      }
    }
  }

  private struct Page {
    var text = ""

    mutating func family(_ name: String, _ type: String, _ help: String) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    /// Adds a line with a value. The label values come from this program and never need escaping.
    mutating func line(_ name: String, _ labels: [(String, String)], _ value: String) {
      let list = labels.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
      text += list.isEmpty ? "\(name) \(value)\n" : "\(name){\(list)} \(value)\n"
    }

    /// Adds a figure without labels. If the figure is not known, only its description is added.
    mutating func figure(_ name: String, _ type: String, _ help: String, _ value: Int?) {
      family(name, type, help)
      if let value { line(name, [], String(value)) }
    }

    /// Adds a figure for each value of a label.
    mutating func figures(
      _ name: String, _ type: String, _ help: String, by label: String, _ values: [(String, Int)]
    ) {
      family(name, type, help)
      for (value, figure) in values { line(name, [(label, value)], String(figure)) }
    }

    mutating func histogram(_ name: String, _ label: (String, String), _ histogram: Histogram) {
      var count = 0
      for (bound, inBucket) in zip(ServiceMetrics.bounds, histogram.buckets) {
        count += inBucket
        line("\(name)_bucket", [label, ("le", "\(bound)")], String(count))
      }
      line("\(name)_bucket", [label, ("le", "+Inf")], String(histogram.count))
      line("\(name)_sum", [label], "\(histogram.sum)")
      line("\(name)_count", [label], String(histogram.count))
    }
  }
}

extension Duration {
  /// The duration in seconds, exact to about a millionth, which suffices for metrics.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
