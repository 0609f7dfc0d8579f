// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AnnouncementServer

/// Lines of Prometheus' text format.
struct MetricLines {
  /// The values by names and labels, as they are written.
  var values: [String: Double] = [:]
  var types: [String: String] = [:]
  /// The lines that do not have the format, and the samples that belong to no family.
  var faults: [String] = []

  init(_ text: String) {
    guard text.hasSuffix("\n") else {
      faults.append("no line end at the end")
      return
    }
    for line in text.dropLast().components(separatedBy: "\n") {
      if line.hasPrefix("# HELP ") { continue }
      if line.hasPrefix("# TYPE ") {
        let parts = line.split(separator: " ")
        if parts.count != 4 || types.updateValue(String(parts[3]), forKey: String(parts[2])) != nil {
          faults.append(line)
        }
        continue
      }
      guard let match = line.wholeMatch(of: /([a-z_]+)(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? ([-+0-9.e]+)/),
        let value = Double(match.4)
      else {
        faults.append(line)
        continue
      }
      let name = String(match.1)
      let family = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
      if types[name] == nil, family.flatMap({ types[$0] }) != "histogram" { faults.append("no family: \(line)") }
      if values.updateValue(value, forKey: name + String(match.2 ?? "")) != nil { faults.append("twice: \(line)") }
    }
  }
}

@Suite("The service's metrics")
struct ServiceMetricsTests {
  private let metrics = ServiceMetrics()
  private func lines(_ gauges: ServiceMetrics.Gauges = .init()) -> MetricLines { MetricLines(metrics.text(gauges)) }

  @Test("the metrics of a new service are well-formed")
  func empty() {
    let lines = lines()
    #expect(lines.faults == [])
    #expect(lines.values["crier_requests_in_flight"] == 0)
    #expect(lines.values[#"crier_refusals_total{code="engine_busy"}"#] == 0)
    #expect(lines.values["crier_player_paused"] == nil, "a service without a player has no metric for it")
  }

  @Test("requests are counted by call and status, and are in flight until they end")
  func requests() {
    let series = ServiceMetrics.RequestSeries(method: "GET", path: "/v1/clips/{name}", status: 200)
    for _ in 0..<3 { metrics.begin() }
    for _ in 0..<2 { metrics.end(series, took: .milliseconds(3)) }
    metrics.countRefusal("rate_limited")
    let lines = lines()
    #expect(lines.faults == [])
    #expect(lines.values[#"crier_requests_total{method="GET",path="/v1/clips/{name}",status="200"}"#] == 2)
    #expect(lines.values["crier_requests_in_flight"] == 1)
    #expect(lines.values[#"crier_refusals_total{code="rate_limited"}"#] == 1)
  }

  @Test("the buckets of a histogram are cumulative and include their upper bounds")
  func histogram() {
    let series = ServiceMetrics.RequestSeries(method: "GET", path: "/", status: 200)
    for milliseconds in [0, 1, 5, 6, 200, 11_000] {
      metrics.begin()
      metrics.end(series, took: .milliseconds(milliseconds))
    }
    let lines = lines()
    let name = "crier_request_duration_seconds"
    func bucket(_ bound: String) -> Double? { lines.values[#"\#(name)_bucket{path="/",le="\#(bound)"}"#] }
    #expect(bucket("0.0005") == 1 && bucket("0.001") == 2 && bucket("0.0025") == 2)
    #expect(bucket("0.005") == 3 && bucket("0.01") == 4 && bucket("0.25") == 5 && bucket("10.0") == 5)
    #expect(bucket("+Inf") == 6)
    #expect(lines.values[#"\#(name)_count{path="/"}"#] == 6)
    #expect(abs((lines.values[#"\#(name)_sum{path="/"}"#] ?? 0) - 11.212) < 1e-6)
  }

  @Test("the metrics contain the gauges and counters of the service's other parts")
  func gauges() {
    var gauges = ServiceMetrics.Gauges(startedAt: Date(timeIntervalSince1970: 1_800_000_000))
    (gauges.isDeviceLost, gauges.isPaused, gauges.waiting) = (true, false, 4)
    gauges.announcements = ["played": 7]
    (gauges.cachedBytes, gauges.eventStreams, gauges.renderQueue) = (12, 3, 2)
    metrics.count(.clipsShared)
    metrics.countRender(method: "speech", took: .milliseconds(80))
    metrics.countBatchRow(isFailure: true)
    metrics.countBatchRow(isFailure: false)
    let lines = lines(gauges)
    #expect(lines.faults == [])
    for (name, value) in [
      "crier_player_device_lost": 1, "crier_player_paused": 0, "crier_player_waiting": 4,
      #"crier_announcements{state="played"}"#: 7, "crier_cache_bytes": 12, "crier_event_streams": 3,
      "crier_engine_queue": 2, #"crier_cache_hits_total{tier="shared"}"#: 1,
      #"crier_render_duration_seconds_count{method="speech"}"#: 1, #"crier_batch_rows_total{outcome="failed"}"#: 1,
      #"crier_batch_rows_total{outcome="done"}"#: 1, "crier_start_time_seconds": 1_800_000_000,
    ] as [String: Double] {
      #expect(lines.values[name] == value, "\(name)")
    }
  }
}
