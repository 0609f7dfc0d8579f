// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// PCMs for tests, in a configuration of libasound that this process alone uses.
public enum TestPCMs {
  /// Writes raw frames to a file, whatever their format, as fast as they come.
  public static func file(_ path: String) -> String {
    install()
    return "crier_test_file:'\(path)'"
  }

  /// Takes everything at once.
  public static var null: String {
    install()
    return "null"
  }

  /// The same as `file` for a device of 48,000 Hz and two channels.
  public static func stereo48000(_ path: String) -> String {
    install()
    return "crier_test_stereo:'\(path)'"
  }

  /// Plays to the null sink of the server at this address; see `PulseServer`.
  public static func pulse(socket: String) -> String {
    install()
    return "crier_test_pulse:'\(socket)'"
  }

  /// The test PCMs, and those that libasound's own configuration defines.
  public static func install() { _ = installation }

  private static let installation: Void = {
    let path = FileManager.default.temporaryDirectory.appending(path: "crier-alsa-\(UUID().uuidString).conf").path
    let configuration = """
      </usr/share/alsa/alsa.conf>
      pcm.crier_test_pulse {
        @args [ SERVER ]
        @args.SERVER { type string }
        type pulse
        server $SERVER
        device "speaker"
      }
      pcm.crier_test_file {
        @args [ PATH ]
        @args.PATH { type string }
        type file
        slave.pcm { type null }
        file $PATH
        format "raw"
      }
      pcm.crier_test_stereo {
        @args [ PATH ]
        @args.PATH { type string }
        type plug
        slave {
          pcm { type file slave.pcm { type null } file $PATH format "raw" }
          rate 48000
          channels 2
        }
      }
      """
    _ = FileManager.default.createFile(atPath: path, contents: Data(configuration.utf8))
    // Read by libasound at each opening; set once, before the first.
    setenv("ALSA_CONFIG_PATH", path, 1)
  }()
}
