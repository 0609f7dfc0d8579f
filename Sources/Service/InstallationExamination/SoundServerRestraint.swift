// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Keeps the sound libraries in this process from starting a server and from writing files.
public enum SoundServerRestraint {
  /// Sets the variables of ``PulseAudioVariables`` in this process. Call it before other threads read the environment.
  ///
  /// - Parameter environment: The environment of this process.
  /// - Returns: Whether the variables are set; false if no temporary file could be written.
  public static func apply(environment: [String: String]) -> Bool {
    let files = FileManager.default
    let variables = PulseAudioVariables(
      PulseAudioVariables.Situation(
        environment: environment, serverAnswers: SoundServers.pulseSocketOwner(environment: environment) != nil,
        exists: { files.fileExists(atPath: $0) }, names: { (try? files.contentsOfDirectory(atPath: $0)) ?? [] },
        text: { try? String(contentsOfFile: $0, encoding: .utf8) }))
    guard let path = unnamedFile(variables.settings) else { return false }
    for (name, value) in variables.values.merging(["PULSE_CLIENTCONFIG": path], uniquingKeysWith: { $1 }) {
      // unsafe: the texts live as long as the call, which copies them.
      guard unsafe setenv(name, value, 1) == 0 else { return false }
    }
    return true
  }

  /// Writes a file that has no name and disappears when this process ends.
  ///
  /// - Returns: The path at which this process can open it, any number of times; nil if the file could not be written.
  private static func unnamedFile(_ text: String) -> String? {
    let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
    var template = Array("\(folder)/crier-XXXXXX".utf8CString)
    // unsafe: the text ends with zero and lives as long as the calls. The system replaces it by a name of the same
    // length.
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { return nil }
    unsafe unlink(template)
    let bytes = Array(text.utf8)
    // unsafe: no more is written than the array holds.
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    guard written == bytes.count else {
      close(descriptor)
      return nil
    }
    return "/proc/self/fd/\(descriptor)"
  }
}
