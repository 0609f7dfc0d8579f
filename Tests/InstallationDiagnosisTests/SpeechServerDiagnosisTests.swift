// SPDX-License-Identifier: Apache-2.0

import InstallationDiagnosis
import Testing

@Suite("Diagnosis of speech servers")
struct SpeechServerDiagnosisTests {
  private func diagnosis(
    _ outcome: SpeechServerFacts.Outcome, saysAmounts: Bool? = nil, locales: [String] = ["en-US"]
  ) -> InstallationDiagnosis {
    InstallationFacts.diagnosis {
      $0.speechServers = [SpeechServerFacts(id: "joe", saysAmounts: saysAmounts, locales: locales, outcome: outcome)]
    }
  }

  @Test("a speech server that answers is reported with its program and voice")
  func answered() {
    let check = diagnosis(.answered(identity: "piper 1.8.0, joe", milliseconds: 3, tested: ["en-US"]))[.speechServers]
    #expect(check?.verdict == .ok && check?.found == "joe: piper 1.8.0, joe, answered in 3 ms")
  }

  @Test("each locale in which a server's voice was not tested gets a warning, unless the settings decide who says sums")
  func untested() {
    let outcome = SpeechServerFacts.Outcome.answered(identity: "piper 1.8.0, joe", milliseconds: 3, tested: ["en-US"])
    let check = diagnosis(outcome, locales: ["en-US", "en-GB"])[.speechServers]
    #expect(check?.verdict == .warning && check?.problems.map(\.code) == [.speechServerUntested])
    #expect(check?.problems.first?.remedy == "crier voices test joe --locale en-GB --home '/srv/my home'")
    for saysAmounts in [true, false] {
      #expect(diagnosis(outcome, saysAmounts: saysAmounts, locales: ["en-US", "en-GB"]).verdict == .ok)
    }
  }

  @Test("a speech server that does not answer gets a warning and not an error, because another voice speaks")
  func failed() {
    let diagnosis = diagnosis(.failed("The speech server joe cannot be reached; check its address."))
    let check = diagnosis[.speechServers]
    #expect(check?.verdict == .warning && check?.problems.map(\.code) == [.speechServerFailing])
    #expect(check?.problems.first?.message.hasPrefix("Another voice speaks: The speech server joe") == true)
    #expect(diagnosis.exitStatus == 0)
  }

  @Test("a speech server's key that cannot be used is a fault of the settings")
  func key() {
    let diagnosis = InstallationFacts.diagnosis {
      $0.settings.speechServerFault = "The speech server joe has a key_file that other users can read."
      $0.speechServers = []
    }
    #expect(diagnosis[.settings]?.problems.map(\.code) == [.speechServerUnusable] && diagnosis.exitStatus == 69)
  }
}
