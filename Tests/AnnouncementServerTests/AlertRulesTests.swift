// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AnnouncementServer

@Suite("The alert rules for Prometheus")
struct AlertRulesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func file(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// The families of the metrics, and the values that their labels have from the start.
  private var page: (types: [String: String], labels: Set<String>) {
    var gauges = ServiceMetrics.Gauges()
    gauges.announcements = ["failed": 0, "played": 0]
    (gauges.isDeviceLost, gauges.isPaused, gauges.waiting, gauges.waitingUnplayed) = (false, false, 0, 0)
    (gauges.waitingPushes, gauges.unreachablePushServers) = (0, 0)
    (gauges.waitingWebhooks, gauges.unreachableWebhookEndpoints, gauges.disabledWebhookEndpoints) = (0, 0, 0)
    let text = ServiceMetrics().text(gauges)
    let labels = text.matches(of: /[{,]([a-z]+)="([a-z_]+)"/).map { "\($0.1)=\($0.2)" }
    return (MetricLines(text).types, Set(labels))
  }

  private func names(in text: String) -> Set<String> {
    Set(text.matches(of: /crier_[a-z_]+/).map { String($0.0) })
  }

  @Test("each alert rule uses only metrics that the service has, and reads a histogram through its buckets")
  func metrics() throws {
    let page = page
    let rules = try file("Deployment/prometheus-alerts.yml")
    let found = names(in: rules)
    #expect(found.count > 15)
    for name in found {
      let isHistogram = name.hasSuffix("_bucket") && page.types[String(name.dropLast("_bucket".count))] == "histogram"
      #expect(isHistogram || ["gauge", "counter"].contains(page.types[name]), "\(name)")
    }
  }

  @Test("each alert rule uses only outcomes, codes, states and alarms that the service has")
  func labels() throws {
    let labels = page.labels
    let rules = try file("Deployment/prometheus-alerts.yml")
    var count = 0
    for match in rules.matches(of: /(alarm|outcome|code|state)=~?"([a-z_|]+)"/) {
      for value in match.2.split(separator: "|") {
        count += 1
        #expect(labels.contains("\(match.1)=\(value)"), "\(match.1)=\(value)")
      }
    }
    #expect(count > 10)
  }

  @Test("the tests of the alert rules use only metrics that the service has")
  func testedMetrics() throws {
    let types = page.types
    for name in names(in: try file("Tests/deployment/prometheus-alerts.yml")) where name != "crier_other" {
      let family = name.hasSuffix("_bucket") ? String(name.dropLast("_bucket".count)) : name
      #expect(types[family] != nil, "\(name)")
    }
  }
}
