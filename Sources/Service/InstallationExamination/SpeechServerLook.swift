// SPDX-License-Identifier: Apache-2.0

public import InstallationDiagnosis
public import SpeechServers

/// A look at a speech server: it asks the server which program and voice it uses. The server speaks nothing.
public enum SpeechServerLook {
  /// - Parameter servers: All servers of the settings, with the verdicts of the tests.
  public static func look(at voice: SpeechServerVoice, of servers: SpeechServerVoices) async -> SpeechServerFacts {
    let (server, start) = (voice.server, ContinuousClock.now)
    var facts = SpeechServerFacts(
      id: server.id, saysAmounts: server.saysAmounts, locales: server.locales, outcome: .failed(""))
    do throws(SpeechServerError) {
      let identity = try await voice.identity()
      let tested = server.locales.filter { locale in
        let verdicts = servers.latestVerdicts(on: server.id, in: locale).filter { $0.identity == identity }
        return !verdicts.isEmpty && verdicts.allSatisfy(\.isPassed)
      }
      facts.outcome = .answered(
        identity: identity, milliseconds: Int((ContinuousClock.now - start) / .milliseconds(1)), tested: tested)
    } catch {
      facts.outcome = .failed(error.description)
    }
    return facts
  }
}
