// SPDX-License-Identifier: Apache-2.0

public import InstallationDiagnosis
public import PushDelivery

/// A look at a server to which pushes are sent: it opens a connection as the service does, and sends nothing.
public enum PushLook {
  /// - Parameter patience: The time for the look-up of the name and the connection, and then for the handshake.
  public static func look(at server: PushServer, patience: Duration = .seconds(5)) async -> PushFacts.Server {
    let start = ContinuousClock.now
    do throws(PushTransportError) {
      try await server.tryConnecting(timeout: patience)
    } catch {
      return PushFacts.Server(name: server.name, outcome: .failed(error.description))
    }
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    return PushFacts.Server(name: server.name, outcome: .connected(milliseconds: Int(milliseconds)))
  }
}
