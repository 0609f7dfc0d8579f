// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The sound that is heard for a notification that names a sound, and the reason.
public struct SoundResolution: Sendable, Hashable {
  /// The rule that decided what is heard.
  public enum Rule: Sendable, Hashable {
    /// This place has the named sound, and no earlier place has it.
    case found(SoundPlace)
    /// The name is `default`, which is the system's default sound.
    case reserved
    /// No place has the named sound, and Crier's extension names the `default.wav` of this place instead.
    case fallback(SoundPlace)
    /// The system's default sound is heard instead of the named sound.
    case system

    /// The name of the rule, for programs.
    public var code: String {
      switch self {
      case .found(let place): place.code
      case .reserved: "default"
      case .fallback: "fallback"
      case .system: "system"
      }
    }

    /// The place of the sound that is heard; nil for the system's default sound.
    public var place: SoundPlace? {
      switch self {
      case .found(let place), .fallback(let place): place
      case .reserved, .system: nil
      }
    }
  }

  /// A remark that explains the result, or that says why the result is uncertain.
  public enum Remark: Sendable, Hashable {
    /// No file can have this name: it is empty, too long, `.` or `..`, or it has a `/` or a control character.
    case invalidName
    /// The name has no extension, but similar names with an extension exist.
    case noExtension(similar: [String])
    /// None of these places has a file with the name.
    case notFound([SoundPlace])
    /// A place has a file whose name differs from the named sound only in letter case.
    case otherCase(String, SoundPlace)
    /// The name of the sound that was found is in another Unicode normal form.
    case otherNormalForm(SoundPlace)
    /// A folder in this place has the name, and is skipped.
    case folder(String, SoundPlace)
    /// A symbolic link in this place has the name, and is skipped.
    case symbolicLink(String, SoundPlace)
    /// A pipe, a socket or a device in this place has the name, and is skipped.
    case special(String, SoundPlace)
    /// The sound that was found is a file of zero bytes.
    case emptyFile(String, SoundPlace)
    /// The sound that was found cannot be opened.
    case unreadableFile(String, SoundPlace)
    /// The containers of all these groups have a file with the name.
    case severalGroups(String, [String])
  }

  /// The name as the notification gives it.
  public var name: String
  public var rule: Rule
  /// The file that is heard; nil for the system's default sound.
  public var url: URL?
  public var remarks: [Remark]

  /// Whether the notification's sound is heard: the named file, or the system's default sound if the name is `default`.
  public var isNamedSound: Bool {
    switch rule {
    case .found, .reserved: true
    case .fallback, .system: false
    }
  }
}

extension SoundResolution.Remark {
  /// The name of the remark, for programs.
  public var code: String {
    switch self {
    case .invalidName: "invalid_name"
    case .noExtension: "no_extension"
    case .notFound: "not_found"
    case .otherCase: "other_case"
    case .otherNormalForm: "other_normal_form"
    case .folder: "folder"
    case .symbolicLink: "symbolic_link"
    case .special: "special_file"
    case .emptyFile: "empty_file"
    case .unreadableFile: "unreadable_file"
    case .severalGroups: "several_groups"
    }
  }

  /// The remark as a sentence, without the name that was asked for.
  public var message: String {
    switch self {
    case .invalidName:
      "This cannot be the name of a sound. Give the file's name with its extension, without folders and control "
        + "characters."
    case .noExtension(let similar):
      "The name has no extension, and iOS adds none."
        + (similar.isEmpty ? "" : " Did you mean \(similar.joined(separator: " or "))?")
    case .notFound(let places):
      places.isEmpty
        ? "There is no place to search."
        : "The sound is not in \(places.map(\.description).joined(separator: ", nor in "))."
    case .otherCase(let name, let place):
      "\(name) in \(place) differs in letter case. A phone distinguishes the names; the Simulator on a Mac usually does "
        + "not."
    case .otherNormalForm(let place):
      "The name of the file in \(place) has another Unicode normal form. For a phone, the names are the same."
    case .folder(let name, let place): "\(name) in \(place) is a folder, so the search goes on."
    case .symbolicLink(let name, let place):
      "\(name) in \(place) is a symbolic link, which Crier does not follow, so the search goes on. Apple does not "
        + "document what iOS does."
    case .special(let name, let place):
      "\(name) in \(place) is a pipe, a socket or a device, so the search goes on."
    case .emptyFile(let name, let place):
      "\(name) in \(place) is found first and is empty, so the system's default sound is heard."
    case .unreadableFile(let name, let place):
      "\(name) in \(place) is found first and cannot be read, so the system's default sound is heard."
    case .severalGroups(let name, let groups):
      "\(name) is in the containers of several groups: \(groups.joined(separator: ", ")). Apple does not document which "
        + "group is searched first."
    }
  }
}
