// SPDX-License-Identifier: Apache-2.0

import InstallationDiagnosis
import Testing

@Suite("Diagnosis of pushes and of the unit's network")
struct NetworkDiagnosisTests {
  private static let unit = UnitFacts(
    name: "crier@west.service", isClosed: true, dropIn: "/usr/local/share/crier/Deployment/network.conf")

  @Test("a systemd unit that blocks the network is a fault only if the service sends pushes or has webhook endpoints")
  func closed() {
    func diagnosis(_ usesApple: Bool, _ endpoints: Int) -> InstallationDiagnosis {
      InstallationFacts.diagnosis {
        $0.unit = Self.unit
        $0.pushes = PushFacts(apps: usesApple ? 1 : 0, usesApple: usesApple)
        $0.ledger = .sound(
          bytes: 1, isOpen: true, keys: LedgerFacts.Keys(inForce: 1, ended: 0), webhookEndpoints: endpoints)
      }
    }
    #expect(diagnosis(false, 0).verdict == .ok)
    #expect(
      diagnosis(true, 0).problems.map(\.message) == [
        "The unit lets the service connect to no machine on the internet (IPAddressDeny), so pushes wait."
      ])
    #expect(diagnosis(false, 2).problems.first?.message.hasSuffix("so webhooks wait.") == true)
    #expect(diagnosis(true, 2).problems.first?.message.hasSuffix("so pushes and webhooks wait.") == true)
    #expect(diagnosis(true, 2).exitStatus == 69)
    #expect(diagnosis(true, 0)[.network]?.found == "crier@west.service: no connections to the internet")
  }

  @Test("the commands that open the network name the folder of the systemd unit, also for a further shop")
  func commands() {
    #expect(
      Self.unit.openingCommands == [
        "install -D -m 644 /usr/local/share/crier/Deployment/network.conf "
          + "/etc/systemd/system/crier@west.service.d/network.conf",
        "systemctl daemon-reload && systemctl restart crier@west.service",
      ])
  }

  @Test("if the unit blocks needed connections, a warning has the waiting deliveries, the drop-in and the commands")
  func start() {
    let pushes = Self.unit.startWarning(hasPushes: true, hasWebhooks: false)
    #expect(pushes?.contains("so pushes will wait") == true && pushes?.contains("Deployment/network.conf") == true)
    #expect(pushes?.contains("systemctl restart crier@west.service") == true)
    #expect(Self.unit.startWarning(hasPushes: false, hasWebhooks: true)?.contains("so webhooks will wait") == true)
    #expect(Self.unit.startWarning(hasPushes: true, hasWebhooks: true)?.contains("so pushes and webhooks") == true)
    #expect(Self.unit.startWarning(hasPushes: false, hasWebhooks: false) == nil)
    var open = Self.unit
    open.isClosed = false
    #expect(open.startWarning(hasPushes: true, hasWebhooks: true) == nil)
  }

  @Test("the text of a diagnosis names each push server with the result of its connection")
  func servers() {
    let diagnosis = InstallationFacts.diagnosis {
      $0.pushes = PushFacts(
        apps: 2, usesApple: true,
        servers: [
          PushFacts.Server(name: "api.push.apple.com:443", outcome: .connected(milliseconds: 87)),
          PushFacts.Server(name: "api.sandbox.push.apple.com:443", outcome: .failed("It does not speak HTTP/2.")),
        ])
    }
    let check = diagnosis[.pushes]
    #expect(
      check?.found == "2 apps; api.push.apple.com:443 connected in 87 ms (TLS, HTTP/2; no key was sent); "
        + "api.sandbox.push.apple.com:443 not connected")
    #expect(check?.problems.map(\.code) == [.pushServerUnreachable] && check?.verdict == .fault)
    #expect(check?.problems[0].message.hasSuffix("It does not speak HTTP/2.") == true)
  }

  @Test("if a push key cannot be used, the check of the settings reports it, and the check of pushes is skipped")
  func key() {
    let diagnosis = InstallationFacts.diagnosis { $0.settings.providerKeyFaults = ["The key is readable by others."] }
    #expect(diagnosis[.pushes]?.verdict == .skipped && diagnosis.problems.map(\.code) == [.providerKeyUnusable])
  }
}
