// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Environment variables that keep libpulse from changing anything. ALSA may pass a sound to libpulse.
///
/// Without them, opening an output can start a PulseAudio server, write a cookie with which a client proves who it is,
/// and make the folder for the server's socket (pulse-client.conf(5) and pulseaudio(1)).
struct PulseAudioVariables: Equatable {
  /// The facts from which the variables are computed, before an output is opened.
  struct Situation {
    /// The environment of this process.
    var environment: [String: String]
    /// Whether a server answers on PulseAudio's socket.
    var serverAnswers: Bool
    /// Whether a file exists.
    var exists: (String) -> Bool
    /// Returns the names of the files in a folder; empty if the folder cannot be read.
    var names: (String) -> [String]
    /// Returns a file's text; nil if it cannot be read.
    var text: (String) -> String?
  }

  /// The text of a settings file for clients, which includes the settings that would apply without it.
  let settings: String
  /// The values of the variables, without `PULSE_CLIENTCONFIG`, which names the file with ``settings``.
  let values: [String: String]

  init(_ situation: Situation) {
    let environment = situation.environment
    let home = environment["HOME"] ?? "/"
    let folders = [environment["XDG_CONFIG_HOME"] ?? "\(home)/.config"].map { "\($0)/pulse" } + ["\(home)/.pulse"]

    // libpulse reads only one of these files, and the files in the folder beside it.
    let candidates = folders.map { "\($0)/client.conf" } + ["/etc/pulse/client.conf"]
    var files: [String] = []
    if let file = environment["PULSE_CLIENTCONFIG"] ?? candidates.first(where: situation.exists) {
      let beside = situation.names("\(file).d").filter { $0.hasSuffix(".conf") }.sorted()
      files = ([file] + beside.map { "\(file).d/\($0)" }).filter(situation.exists)
    }
    settings = (files.map { ".include \($0)" } + ["autospawn = no"]).map { "\($0)\n" }.joined()

    let set = files.compactMap(situation.text).flatMap(Self.names(in:))
    var values: [String: String] = [:]
    let cookies = folders.map { "\($0)/cookie" } + ["\(home)/.pulse-cookie"]
    if environment["PULSE_COOKIE"] == nil, !set.contains("cookie-file"), !cookies.contains(where: situation.exists) {
      // Zeros do the same as a new cookie, because no server knows a new cookie either. A server of the same user asks
      // for no cookie.
      values["PULSE_COOKIE"] = "/dev/zero"
    }
    if environment["PULSE_SERVER"] == nil, environment["DISPLAY"] == nil, !set.contains("default-server"),
      !situation.serverAnswers
    {
      // If a server is named, libpulse makes no folder for a server's socket.
      values["PULSE_SERVER"] = "unix:/nonexistent"
    }
    self.values = values
  }

  /// Returns the names that are set in a settings file, which has lines such as `autospawn = no`. `;` and `#` begin a
  /// comment.
  private static func names(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].trimmingCharacters(in: .whitespaces)
      return parts.count == 2 && !name.hasPrefix(";") && !name.hasPrefix("#") ? name : nil
    }
  }
}
