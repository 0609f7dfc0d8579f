// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import Playback
import SpeechEngine

/// `/healthz`, `/readyz` and `/metrics`.
struct OperationCalls: Sendable {
  let readiness: Readiness
  let metrics: ServiceMetrics
  let gauges: @Sendable () async -> ServiceMetrics.Gauges

  var routes: [Route] {
    [
      .get("/healthz", .open) { _ in try ServiceJSON.response(.ok, ["status": "ok"]) },
      .get("/readyz", .open) { _ in
        let report = await readiness.report()
        return try ServiceJSON.response(report.isReady ? .ok : .serviceUnavailable, report)
      },
      .get("/metrics", .openByName) { _ in
        Response(
          status: .ok,
          headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
          body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text(await gauges()))))
      },
    ]
  }
}

/// Whether the service can do its work, found by doing some.
actor Readiness {
  struct Check: Sendable, Encodable {
    var ok: Bool
    /// Why not.
    var code: String?
    var freeBytes: Int64?
    var state: String?

    enum CodingKeys: String, CodingKey {
      case ok, code, state
      case freeBytes = "free_bytes"
    }
  }

  struct Report: Sendable, Encodable {
    var status: String
    var checks: [String: Check]

    var isReady: Bool { ["ready", "degraded"].contains(status) }
  }

  /// Below it a disk counts as full, in bytes: some minutes of clips, and the ledger's log.
  static let leastFree: Int64 = 8 << 20
  /// A check of the engine holds for so long: whoever asks often is not to keep it busy.
  private static let memory: Duration = .seconds(2)

  private let announcer: Announcer
  private let ledger: Ledger
  private let player: LanePlayer?
  private let folders: [URL]
  private let locale: String
  private var engine: (at: ContinuousClock.Instant, check: Check)?
  /// A check that is under way: whoever asks meanwhile waits for it, and the engine has one to do.
  private var asking: Task<Check, Never>?
  private var isStopping = false

  /// - Parameter folders: where is written.
  init(announcer: Announcer, ledger: Ledger, player: LanePlayer?, folders: [URL], locale: String) {
    self.announcer = announcer
    self.ledger = ledger
    self.player = player
    self.folders = folders
    self.locale = locale
  }

  /// From now on it is not ready: whoever shares out requests is to send them elsewhere.
  func stop() { isStopping = true }

  func report() async -> Report {
    var checks: [String: Check] = [:]
    checks["engine"] = await engineCheck()
    checks["disk"] = diskCheck()
    do {
      _ = try await ledger.lastEventPosition()
      checks["ledger"] = Check(ok: true)
    } catch {
      checks["ledger"] = Check(ok: false, code: error.code.rawValue)
    }
    let device = await deviceCheck()
    checks["device"] = device
    let isReady = !isStopping && checks.filter { $0.key != "device" }.allSatisfy(\.value.ok)
    return Report(
      status: isReady ? device.ok ? "ready" : "degraded" : isStopping ? "stopping" : "unready", checks: checks)
  }

  private func engineCheck() async -> Check {
    if let engine, ContinuousClock.now - engine.at < Self.memory { return engine.check }
    if let asking { return await asking.value }
    let task = Task { await askEngine() }
    asking = task
    return await task.value
  }

  private func askEngine() async -> Check {
    defer { asking = nil }
    var check = Check(ok: true)
    do {
      let script = try announcer.script(for: .text("1", locale: nil), options: RenderOptions(defaultLocale: locale))
      _ = try await announcer.phonemes(of: script)
    } catch let error as SpeechEngineError where error.code == .queueFull {
      // It works as hard as it can.
      check.state = "busy"
    } catch {
      check = Check(ok: false, code: ErrorReport(error).code)
    }
    engine = (ContinuousClock.now, check)
    return check
  }

  private func diskCheck() -> Check {
    var least = Int64.max
    for folder in folders {
      let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder.path(percentEncoded: false))
      guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value else {
        return Check(ok: false, code: "folder_missing")
      }
      least = min(least, free)
    }
    return Check(ok: least >= Self.leastFree, code: least >= Self.leastFree ? nil : "disk_full", freeBytes: least)
  }

  private func deviceCheck() async -> Check {
    guard let player else { return Check(ok: true, state: "none") }
    guard let status = try? await player.player?.status() else {
      return Check(ok: false, code: "player_unavailable", state: "stopped")
    }
    if status.isDeviceLost { return Check(ok: false, code: "device_lost", state: "device_lost") }
    return Check(ok: true, state: status.isPaused ? "paused" : status.playing == nil ? "idle" : "playing")
  }
}
