// SPDX-License-Identifier: Apache-2.0

/// The name of an output on a command line.
public enum OutputName: Sendable, Hashable, CustomStringConvertible {
  /// `default`: ALSA's PCM of this name; on Apple systems the output selected in the settings.
  case systemDefault
  /// `alsa:NAME`: any PCM that ALSA knows, such as `alsa:plughw:1,0`. `aplay -L` lists them.
  case alsa(String)
  /// `null`: no sound is played, but playing takes as long as on a device.
  case null
  /// `file:PATH`: a record of what is played is written to this file, as JSON lines.
  case file(String)

  /// Parses a name.
  ///
  /// - Throws: `OutputError` with the code `invalidName`.
  public init(_ text: String) throws(OutputError) {
    switch text {
    case "default", "alsa:default": self = .systemDefault
    case "null": self = .null
    default:
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1]) : ""
      switch (String(parts[0]), value.contains("\0") ? "" : value) {
      case ("alsa", let device) where !device.isEmpty: self = .alsa(device)
      case ("file", let path) where !path.isEmpty: self = .file(path)
      case ("alsa", _):
        throw Self.invalid(text, "the name of a PCM is missing after “alsa:”", "list the PCMs with “aplay -L”")
      case ("file", _):
        throw Self.invalid(text, "a path is missing after “file:”", "write a path after “file:”")
      case (let first, _):
        let isDevice = ["hw", "plughw", "sysdefault", "dmix", "front", "pulse", "pipewire", "hdmi"].contains(first)
        throw Self.invalid(
          text, "the outputs are “default”, “alsa:NAME”, “null” and “file:PATH”",
          isDevice ? "write “alsa:\(text)”" : "use one of these")
      }
    }
  }

  private static func invalid(_ text: String, _ reason: String, _ remedy: String) -> OutputError {
    OutputError(.invalidName, text, reason, remedy: remedy)
  }

  /// The name as text. Parsing the text gives the same name.
  public var description: String {
    switch self {
    case .systemDefault: "default"
    case .alsa(let device): "alsa:\(device)"
    case .null: "null"
    case .file(let path): "file:\(path)"
    }
  }

  /// Returns the output of this name, without opening it.
  ///
  /// - Parameter waking: the sound that keeps the sink of an ALSA device awake.
  public func makeOutput(waking: Waking = Waking()) -> any SoundOutput {
    switch self {
    case .null: NullOutput()
    case .file(let path): FileOutput(path: path)
    case .systemDefault: ALSAOutput(device: "default", waking: waking)
    case .alsa(let device): ALSAOutput(device: device, waking: waking)
    }
  }
}
