// SPDX-License-Identifier: Apache-2.0

public import TextFormats

/// The remedy of a fault: words and, if one helps, a shell command. `crier doctor` and a running service give the same
/// remedies.
public struct Remedy: Sendable, Hashable, Encodable {
  public let text: String
  @ExplicitNull public private(set) var command: String?

  init(_ text: String, _ command: String? = nil) { (self.text, self.command) = (text, command) }

  /// The words, and the command on a line of its own.
  var lines: String { text + (command.map { "\n\($0)" } ?? "") }
}

/// The commands that repair an installation, ready to be pasted into a shell, and the words around them.
public struct RemedyCommands: Sendable {
  /// The path of the home folder as the user typed it.
  let home: String

  public init(home: String) { self.home = home }

  /// A command of Crier with the home folder.
  func crier(_ words: String) -> String { "crier \(words) --home \(Shell.quoted(home))" }

  /// The path of a file in the home folder, as one word.
  func file(_ name: String) -> String { Shell.quoted(home.hasSuffix("/") ? home + name : "\(home)/\(name)") }

  var folder: String { Shell.quoted(home) }
}

/// The remedies of faults that a running service finds.
extension RemedyCommands {
  public var doctor: Remedy { Remedy("This command names the cause, and a remedy:", crier("doctor")) }
  public var deviceLost: Remedy {
    Remedy(
      "Connect the device or start its sound server; the player then goes on by itself. See which announcements wait:",
      crier("queue"))
  }
  public var paused: Remedy { Remedy("Resume playback:", crier("queue resume")) }
  public var queueLong: Remedy { Remedy("See what waits, and why:", crier("queue")) }
  public var playerUnavailable: Remedy {
    Remedy("Another program may be playing on the output. End that program; the service then goes on:", crier("queue"))
  }
  public var notPlayed: Remedy {
    Remedy(
      "Restart the service. Unless take_over is false, it then plays the announcements that wait on other outputs. See "
        + "which announcements wait:",
      crier("queue"))
  }
  /// - Parameter cause: The meaning of APNs' reason and the remedy, in sentences.
  public func pushRefused(_ cause: String?) -> Remedy {
    Remedy(
      """
      \(cause.map { "\($0) " } ?? "")After a change of the setting 'apns', restart the service. If the fault was on \
      Apple's side, test a phone: if Apple accepts the test, the service sends the waiting pushes immediately.
      """)
  }
  public var diskRoom: Remedy {
    Remedy("See what fills the disk, and remove it:", "du -xh --max-depth=1 \(folder)")
  }
  public var speechServers: Remedy {
    Remedy("Another voice speaks meanwhile. See whether the speech server runs and answers:", crier("doctor"))
  }
  public var workSetAside: Remedy {
    Remedy(
      "Nothing is lost: the service makes these deliveries later, one at a time. Find out what ended the service:",
      "journalctl -u crier -p warning")
  }
  public var paymentProviders: Remedy {
    Remedy("Correct the file; the service reads it again by itself:", crier("providers list"))
  }
  public var webhookUnreachable: Remedy {
    Remedy(
      "The receiver does not answer. Its messages are kept and sent again. Start it, or see its last attempts in the console's view Webhooks."
    )
  }
  public var webhookDisabled: Remedy {
    Remedy("Correct the receiver, and then enable the endpoint: POST /v1/webhook-endpoints/{id}/enable.")
  }
  public var shopSilent: Remedy {
    Remedy("If customers have paid, see whether the payments reach the service:", crier("providers list"))
  }

  /// - Parameter server: The host and the port.
  public static func pushServer(_ server: String) -> Remedy {
    Remedy(
      "Look up the name and try the port, on this machine. With a server of your own, add --cacert and the file in "
        + "'ca' of the setting 'apns':",
      "curl -sS -o /dev/null --http2 \(Shell.quoted("https://\(server)/"))")
  }
}
