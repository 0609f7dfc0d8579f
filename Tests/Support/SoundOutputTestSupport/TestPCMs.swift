// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// PCMs for tests, in a libasound configuration that only this process uses.
public enum TestPCMs {
  /// Returns a PCM that writes raw frames of any format to a file, as fast as they arrive.
  public static func file(_ path: String) -> String {
    install()
    return "crier_test_file:'\(path)'"
  }

  /// A PCM that accepts everything at once.
  public static var null: String {
    install()
    return "null"
  }

  /// Returns a PCM like `file` for a device with 48,000 Hz and two channels.
  public static func stereo48000(_ path: String) -> String {
    install()
    return "crier_test_stereo:'\(path)'"
  }

  /// Returns a PCM that plays to the null sink of the server at this address; see `PulseServer`.
  public static func pulse(socket: String) -> String {
    install()
    return "crier_test_pulse:'\(socket)'"
  }

  /// Installs the test PCMs in addition to those in libasound's own configuration.
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
    // libasound reads the variable at each opening. It is set once, before the first opening.
    setenv("ALSA_CONFIG_PATH", path, 1)
  }()
}
