// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import InstallationDiagnosis
import Ledger
import Playback
import SpeechEngine
import SpeechServers

/// The check of whether the service can do its work. It performs a small part of that work.
actor Readiness {
  struct Check: Sendable, Encodable {
    var ok: Bool
    /// The code of the error if the check failed.
    var code: String?
    var freeBytes: Int64?
    var state: String?
    /// The number of announcements that wait on outputs without a player, of waiting pushes or webhooks, or of
    /// deliveries that are set aside.
    var waiting: Int?
    /// The time since which the device cannot be used or no server can be reached, and the code of the error.
    var since: Date?
    var cause: String?
    /// The number of attempts to connect that have failed since then.
    var attempts: Int?
    /// The number of nodes that share the ledger.
    var nodes: Int?
  }

  struct Report: Sendable, Encodable {
    var status: String
    var checks: [String: Check]

    var isReady: Bool { ["ready", "degraded"].contains(status) }
  }

  /// The free space below which a disk counts as full, in bytes. It suffices for some minutes of clips and for the
  /// ledger's log.
  static let leastFree = InstallationDiagnosis.leastFree
  /// The time for which the result of an engine check is reused, so that frequent requests do not keep the engine busy.
  private static let memory: Duration = .seconds(2)
  /// The time after which a check fails that has no result. The server of a ledger may take longer to answer, and a
  /// player may wait for the ledger. Those who ask for the readiness do not wait so long.
  private static let patience: Duration = .seconds(3)

  private let announcer: Announcer
  private let ledger: any Ledger.StateStore
  private let player: LanePlayer?
  private let pushes: PushService?
  private let webhooks: WebhookService?
  private let nodes: NodeService?
  private let providers: ProviderEndpoints
  private let folders: [URL]
  private let setAside: @Sendable () async -> Ledger.SetAsideCounts
  private let engine: Remembered<Check>
  private var isStopping = false

  /// - Parameters:
  ///   - folders: The folders to which the service writes.
  ///   - setAside: Returns the numbers of deliveries that this process has set aside.
  init(
    announcer: Announcer, ledger: any Ledger.StateStore, player: LanePlayer?, pushes: PushService?,
    webhooks: WebhookService?, nodes: NodeService?, providers: ProviderEndpoints, folders: [URL],
    locale: String,
    setAside: @escaping @Sendable () async -> Ledger.SetAsideCounts
  ) {
    self.announcer = announcer
    self.ledger = ledger
    self.player = player
    self.pushes = pushes
    self.webhooks = webhooks
    self.nodes = nodes
    self.providers = providers
    self.folders = folders
    self.setAside = setAside
    engine = Remembered(for: Self.memory, time: AnnouncementServer.elapsedTime()) {
      await Self.askEngine(of: announcer, locale: locale)
    }
  }

  /// Reports the service as not ready from now on, so that a load balancer sends requests elsewhere.
  func stop() { isStopping = true }

  func report() async -> Report {
    let late = Check(ok: false, code: LedgerError.Code.busy.rawValue)
    async let ledgerCheck = soon(late) { await self.ledgerCheck() }
    async let deviceCheck = soon(late) { await self.deviceCheck() }
    async let lanesCheck = soon(late) { await self.lanesCheck() }
    async let setAsideCheck = soon(late) { await self.setAsideCheck() }
    var checks: [String: Check] = [:]
    checks["engine"] = await engine.value
    checks["disk"] = diskCheck()
    checks["ledger"] = await ledgerCheck
    let isReady = !isStopping && checks.allSatisfy(\.value.ok)
    // If one of these checks fails, the service is degraded but still ready. Clips can be made without the device, and
    // while announcements wait on an output without a player. Announcements are played even if neither Apple nor a
    // receiver of webhooks can be reached, and while deliveries are set aside. While a speech server fails, another
    // voice speaks. When a node has ended, its deliveries wait for some seconds. While nodes differ, each of them goes on
    // with what it has: if a proxy stopped asking such nodes, a mistake in one file would stop the shops.
    var others = [
      "device": await deviceCheck, "lanes": await lanesCheck, "pushes": await pushesCheck(),
      "webhooks": await webhooksCheck(), "providers": providers.check, "speech_servers": speechServersCheck,
      "set_aside": await setAsideCheck,
    ]
    if let nodes { others["nodes"] = await nodes.check() }
    let status = others.allSatisfy(\.value.ok) ? "ready" : "degraded"
    return Report(
      status: isReady ? status : isStopping ? "stopping" : "unready", checks: checks.merging(others) { $1 })
  }

  /// Returns the result of a check, or another one if the check takes longer than ``patience``.
  private func soon(_ late: Check, _ check: @escaping @Sendable () async -> Check) async -> Check {
    let outcome = FirstOutcome<Check, Never>()
    return await outcome.wait(
      start: {
        [
          Task { outcome.end(.success(await check())) },
          Task {
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            outcome.end(.success(late))
          },
        ]
      },
      onCancel: { outcome.end(.success(late)) }
    ).get()
  }

  private func ledgerCheck() async -> Check {
    do {
      _ = try await ledger.lastEventPosition()
      return Check(ok: true)
    } catch {
      return Check(ok: false, code: error.code.rawValue)
    }
  }

  private func setAsideCheck() async -> Check {
    let aside = await setAside().total
    return Check(ok: aside == 0, code: aside == 0 ? nil : "set_aside", waiting: aside)
  }

  /// Whether the engine speaks.
  var engineCheck: Check { get async { await engine.value } }

  private func pushesCheck() async -> Check {
    guard let pushes else { return Check(ok: true, state: "none") }
    let reach = pushes.reach.check(waiting: await pushes.waitingCount)
    guard reach.ok, let stop = await pushes.longestStop else { return reach }
    return Check(ok: false, code: "push_refused", waiting: stop.count, since: stop.since, cause: stop.cause)
  }

  private func webhooksCheck() async -> Check {
    guard let webhooks else { return Check(ok: true, state: "none") }
    return webhooks.reach.check(waiting: await webhooks.waitingCount)
  }

  /// The speech server that has failed for the longest time; nil if none fails.
  var speechServerOutage: ShopFacts.Outage? {
    let failing = announcer.speechServers.statuses.filter { $0.state != .closed }
    guard let longest = failing.max(by: { $0.failingFor ?? .zero < $1.failingFor ?? .zero }) else { return nil }
    return ShopFacts.Outage(
      since: longest.failingFor.map { Date(timeIntervalSinceNow: -$0.inSeconds) }, cause: longest.reason,
      count: failing.count)
  }

  private var speechServersCheck: Check {
    guard !announcer.speechServers.voices.isEmpty else { return Check(ok: true, state: "none") }
    guard let outage = speechServerOutage else { return Check(ok: true) }
    return Check(ok: false, code: "speech_server_failing", since: outage.since, cause: outage.cause)
  }

  /// Returns the time of day of a moment on a monotonic clock. The result is only for people.
  static func date(of moment: Duration, now: Duration) -> Date { Date(timeIntervalSinceNow: -(now - moment).inSeconds) }

  private static func askEngine(of announcer: Announcer, locale: String) async -> Check {
    var check = Check(ok: true)
    do {
      let script = try announcer.script(for: .text("1", locale: nil), options: RenderOptions(defaultLocale: locale))
      _ = try await announcer.phonemes(of: script)
    } catch let error as SpeechEngineError where error.code == .queueFull {
      // A full queue means that the engine works, so the check succeeds.
      check.state = "busy"
    } catch {
      check = Check(ok: false, code: ErrorReport(error).code)
    }
    return check
  }

  func diskCheck() -> Check {
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

  /// Checks that no announcement waits on an output without a player.
  private func lanesCheck() async -> Check {
    do {
      let waiting = try await ledger.waitingLanes().filter { !$0.isPlayed && $0.lane != player?.lane }
        .reduce(0) { $0 + $1.count }
      return Check(ok: waiting == 0, code: waiting == 0 ? nil : "not_played", waiting: waiting)
    } catch {
      return Check(ok: false, code: error.code.rawValue)
    }
  }

  private func deviceCheck() async -> Check {
    guard let player else { return Check(ok: true, state: "none") }
    guard let status = try? await player.player?.status() else {
      return Check(ok: false, code: "player_unavailable", state: "stopped")
    }
    if let loss = status.deviceLoss {
      return Check(ok: false, code: "device_lost", state: "device_lost", since: loss.since, cause: loss.code)
    }
    return Check(ok: true, state: status.isPaused ? "paused" : status.playing == nil ? "idle" : "playing")
  }
}
