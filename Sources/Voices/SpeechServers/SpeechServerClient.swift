// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import HostAddresses
import NIOCore
import NIOSSL
public import Waveforms

/// The client of one speech server. It asks the server to speak words, over Wyoming or OpenAI's protocol.
///
/// Each call has a connection of its own, and ends within the limits of the server's settings, whatever the server
/// does. No request is repeated: if a call fails, another voice speaks.
public final class SpeechServerClient: Sendable {
  public let server: SpeechServer
  private let connection: ServerConnection
  private let target: OpenAITarget?

  /// The largest permitted size of the key file, in bytes.
  private static let mostKeyBytes = 4 << 10

  /// Reads the key and the trusted certificates from the files that the settings name.
  ///
  /// - Parameter sleep: Waits for a duration, or throws if its task is cancelled. Tests pass a clock of their own.
  /// - Throws: `keyUnusable`; `addressInvalid` if the certificates cannot be read.
  public init(
    _ server: SpeechServer, resolver: any HostResolving = SystemHostResolver(),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) throws(SpeechServerError) {
    self.server = server
    var tls: NIOSSLContext?
    if case .openAI(let host, let port, let path, let isEncrypted) = server.address {
      let key: String?
      do throws(SpeechServerError) { key = try server.keyFile.map(Self.key) } catch { throw error.naming(server.id) }
      target = OpenAITarget(host: host, port: port, path: path, isEncrypted: isEncrypted, key: key)
      if isEncrypted { tls = try Self.tls(server) }
    } else {
      target = nil
    }
    connection = ServerConnection(
      server: server, permits: Permits(max(1, server.mostAtOnce)), resolver: resolver, sleep: sleep, tls: tls)
  }

  /// Whether the server speaks at the requested rate. A request of the Wyoming protocol cannot contain a rate.
  public var appliesSpeed: Bool { target != nil }

  /// Speaks words.
  ///
  /// - Parameter speedPercent: The speaking rate in percent of the voice's own rate, 25 to 400; see ``appliesSpeed``.
  /// - Returns: The sound as the server made it, with one channel at the rate of the pipeline (22,050 Hz), and without
  ///   marks. Its level is not changed, and it is not checked; see ``SoundPlausibility``.
  /// - Throws: ``SpeechServerError``.
  public func speak(_ words: ReadBackWords, speedPercent: Int = 100) async throws(SpeechServerError) -> Waveform {
    do throws(SpeechServerError) {
      guard server.hearsNames || !words.hasNames else {
        throw SpeechServerError(
          .namesStay, "was not asked, because names and notes do not leave this machine",
          remedy: "another voice speaks the names and notes; to send them to this server, set names: true")
      }
      guard let target else {
        return try await connection.ask(WyomingSpeaking(words, voice: server.voice, within: server.limits))
      }
      let speed = min(max(speedPercent, 25), 400)
      return try await connection.ask(OpenAISpeaking(words, by: server, speedPercent: speed, at: target))
    } catch {
      throw error.naming(server.id)
    }
  }

  /// Returns the programs, models and voices of the server, for `crier doctor` and for the recipes of clips.
  ///
  /// - Throws: ``SpeechServerError``.
  public func describe() async throws(SpeechServerError) -> SpeechServerDescription {
    do throws(SpeechServerError) {
      guard let target else { return try await connection.ask(WyomingDescribing(within: server.limits)) }
      return try await connection.ask(OpenAIDescribing(at: target, within: server.limits))
    } catch {
      throw error.naming(server.id)
    }
  }

  /// Reads a key. The file must be readable only by its owner.
  private static func key(_ file: URL) throws(SpeechServerError) -> String {
    let path = file.resolvingSymlinksInPath().path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      attributes[.type] as? FileAttributeType == .typeRegular, let mode = attributes[.posixPermissions] as? Int,
      let size = attributes[.size] as? Int, size <= mostKeyBytes, let data = FileManager.default.contents(atPath: path)
    else { throw fault("has a key_file that cannot be read", "check the path, and whom the file belongs to") }
    guard mode & 0o077 == 0 else {
      throw fault("has a key_file that other users can read", "run chmod 600 on the file")
    }
    let key = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    // Another character, such as a line break, could add a header to the request.
    guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw fault("has a key_file without a key", "write the key into the file, in one line")
    }
    return key
  }

  private static func fault(_ problem: String, _ remedy: String) -> SpeechServerError {
    SpeechServerError(.keyUnusable, problem, remedy: remedy)
  }

  private static func tls(_ server: SpeechServer) throws(SpeechServerError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    // At the shutdown the sound is already complete. The next request must not wait long for a server that does not
    // close the connection.
    configuration.shutdownTimeout = .milliseconds(200)
    if let roots = server.trustRoots { configuration.trustRoots = .file(roots.path(percentEncoded: false)) }
    do { return try NIOSSLContext(configuration: configuration) } catch {
      throw SpeechServerError(
        .addressInvalid, server: server.id, "has certificates that cannot be read", remedy: "ca: give a file in PEM")
    }
  }
}
