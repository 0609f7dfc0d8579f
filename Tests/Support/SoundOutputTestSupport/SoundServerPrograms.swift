// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// The sound server that tests start. Both speak PulseAudio's protocol.
public enum SoundServerPrograms: String, Sendable, CaseIterable {
  case pulseaudio
  /// PipeWire with WirePlumber, which connects streams to the sink, and with PipeWire's module for PulseAudio's protocol.
  /// This module is in PipeWire itself, so the package `pipewire-pulse` is not needed.
  case pipewire

  /// The server that the environment variable `CRIER_SOUND_SERVER` names; otherwise PulseAudio if it is installed, and
  /// otherwise PipeWire. `scripts/setup` chooses in the same order.
  public static let current: SoundServerPrograms = {
    let environment = ProcessInfo.processInfo.environment
    if let asked = environment["CRIER_SOUND_SERVER"] {
      guard let server = SoundServerPrograms(rawValue: asked) else {
        fatalError("CRIER_SOUND_SERVER: unknown server \"\(asked)\"; use pulseaudio or pipewire.")
      }
      return server
    }
    let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    let hasPulseAudio = folders.contains { access("\($0)/pulseaudio", X_OK) == 0 }
    return hasPulseAudio ? .pulseaudio : .pipewire
  }()

  /// A program with its arguments, and a file that it makes when it has started.
  struct Launch {
    var arguments: [String]
    var socket: String?
  }

  /// Writes the configuration files, and returns the programs in the order in which they start.
  ///
  /// - Parameters:
  ///   - folder: the folder of the configuration files and of PipeWire's own socket.
  ///   - socket: the path of the socket that speaks PulseAudio's protocol.
  ///   - rate: the rate of the sink `speaker` in Hz.
  func launches(in folder: String, socket: String, rate: Int) throws -> [Launch] {
    switch self {
    case .pulseaudio:
      return [
        Launch(arguments: [
          "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=120", "--log-level=info",
          "--log-target=stderr", "--high-priority=no", "--realtime=no", "--disable-shm=yes",
          "-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1",
          "-L", "module-null-sink sink_name=speaker rate=\(rate) channels=1 format=s16le",
        ])
      ]
    case .pipewire:
      try Data(Self.core(rate: rate).utf8).write(to: URL(filePath: folder).appending(path: "core.conf"))
      try Data(Self.protocol(socket: socket).utf8)
        .write(to: URL(filePath: folder).appending(path: "protocol.conf"))
      return [
        Launch(arguments: ["pipewire", "-c", "\(folder)/core.conf"], socket: "\(folder)/pipewire-0"),
        Launch(arguments: ["wireplumber", "-c", "policy.conf"]),
        Launch(arguments: ["pipewire", "-c", "\(folder)/protocol.conf"], socket: socket),
      ]
    }
  }

  private static let libraries =
    "{ audio.convert.* = audioconvert/libspa-audioconvert support.* = support/libspa-support }"

  // The blocks have 512 frames, about 11 ms. With longer blocks, the end of a sound is recorded too late for the tests.
  // With shorter blocks, a busy machine makes gaps. PipeWire gets a real-time priority if the system allows it, as it
  // does on desktops.
  private static func core(rate: Int) -> String {
    """
    context.properties = {
      core.daemon = true
      core.name = pipewire-0
      mem.allow-mlock = false
      default.clock.rate = \(rate)
      default.clock.quantum = 512
      default.clock.min-quantum = 512
      default.clock.max-quantum = 512
    }
    context.spa-libs = \(libraries)
    context.modules = [
      { name = libpipewire-module-rt args = { nice.level = -11 rt.prio = 20 } flags = [ ifexists nofail ] }
      { name = libpipewire-module-protocol-native }
      { name = libpipewire-module-metadata }
      { name = libpipewire-module-spa-node-factory }
      { name = libpipewire-module-client-node }
      { name = libpipewire-module-access }
      { name = libpipewire-module-adapter }
      { name = libpipewire-module-link-factory }
      { name = libpipewire-module-session-manager }
    ]
    context.objects = [
      { factory = adapter
        args = {
          factory.name = support.null-audio-sink
          node.name = speaker
          media.class = Audio/Sink
          audio.rate = \(rate)
          audio.channels = 1
          audio.position = [ MONO ]
          object.linger = true
        }
      }
    ]

    """
  }

  private static func `protocol`(socket: String) -> String {
    """
    context.properties = { mem.allow-mlock = false }
    context.spa-libs = \(libraries)
    context.modules = [
      { name = libpipewire-module-rt args = { nice.level = -11 rt.prio = 20 } flags = [ ifexists nofail ] }
      { name = libpipewire-module-protocol-native }
      { name = libpipewire-module-client-node }
      { name = libpipewire-module-adapter }
      { name = libpipewire-module-metadata }
      { name = libpipewire-module-protocol-pulse
        args = { server.address = [ "unix:\(socket)" ] }
      }
    ]

    """
  }
}
