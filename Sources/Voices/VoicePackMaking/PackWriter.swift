// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation
public import VoicePacks
public import Waveforms

private import VoicePackIntegrity

/// A clip, with the tokens that it says and its position in an announcement.
public struct PackClip: Sendable, Hashable {
  /// The names of the tokens: one, or several for a phrase that was recorded without a break.
  public var tokens: [String]
  public var position: ClipPosition

  /// The recorded words, spelled as in the phrase book.
  public var text: String

  /// The sound at 22,050 Hz, as ``ClipPreparation`` produces it.
  public var waveform: Waveform

  public init(tokens: [String], position: ClipPosition = .plain, text: String, waveform: Waveform) {
    self.tokens = tokens
    self.position = position
    self.text = text
    self.waveform = waveform
  }

  /// Whether the clip says one token and not a phrase.
  public var isSingleWord: Bool { tokens.count == 1 }
}

/// The description of a pack without its clips. `PackManifest` explains each property.
public struct PackFacts: Sendable, Hashable, Codable {
  public var id: String
  public var locale: String
  public var speaker: String
  public var licence: String
  public var isSynthesized: Bool
  public var speechServer: String?

  public init(
    id: String, locale: String, speaker: String, licence: String, isSynthesized: Bool = false,
    speechServer: String? = nil
  ) {
    self.id = id
    self.locale = locale
    self.speaker = speaker
    self.licence = licence
    self.isSynthesized = isSynthesized
    self.speechServer = speechServer
  }
}

/// Writes voice packs. The same facts and clips always produce identical files.
///
/// A pack appears completely or not at all. It is written into a hidden folder next to its destination, synchronised to
/// the disk, and renamed. If a pack already exists there, the old and the new pack are exchanged in one step, where the
/// file system supports that. The files of a pack are never changed in place: they are only removed, so a program that
/// has mapped them can still read them.
///
/// Several processes may write and remove packs at the same time. The lock of ``lockName`` lets them take turns when
/// they put a pack into its place or remove a pack, but not while they write a draft.
public struct PackWriter: Sendable {
  /// The folder that contains the packs, such as `$CRIER_HOME/Voices`. It is created if it does not exist.
  public var directory: URL

  /// The name of the empty file in ``directory`` whose lock a writer holds while it changes the packs.
  static let lockName = ".packs.lock"

  private let calls: FileSystemCalls

  /// The longest wait for the lock, in seconds. A writer holds the lock only for a few renames and the removal of the
  /// old files.
  private let patience: TimeInterval

  public init(directory: URL) { self.init(directory: directory, calls: .system) }

  /// - Parameters:
  ///   - calls: the system calls that write drafts.
  ///   - patience: the longest wait for other writers, in seconds.
  init(directory: URL, calls: FileSystemCalls = .system, patience: TimeInterval = 10) {
    self.directory = directory
    self.calls = calls
    self.patience = patience
  }

  /// Writes a pack.
  ///
  /// Clips with the same sound and words are stored once. Every token must have a plain clip, which fits every place.
  /// If a token has no plain clip, its final clip is also used as the plain clip. If it has no final clip either, its
  /// rising clip is used.
  ///
  /// - Parameter replacing: whether to replace an existing pack that has this id.
  /// - Returns: the manifest as written, including the digest.
  /// - Throws: `PackMakingError`: `packInvalid`, `packExists`, `writingFailed`. After an error nothing has changed.
  @discardableResult public func write(
    _ facts: PackFacts, clips: [PackClip], replacing: Bool = false
  ) throws(PackMakingError) -> PackManifest {
    let contents = try PackContents(facts, clips)
    try place(contents.files, id: facts.id, replacing: replacing)
    return contents.manifest
  }

  /// Replaces the sound of one clip of a pack in ``directory``. Everything else in the pack stays the same, so
  /// listeners hear the new sound wherever the clip is used.
  ///
  /// - Parameters:
  ///   - file: the name of the clip's file.
  ///   - waveform: the new sound, as ``ClipPreparation`` produces it.
  /// - Returns: the manifest as written, with its new digest.
  /// - Throws: `PackMakingError`: `packInvalid` if the pack has no such clip, another sample rate, or files that do not
  ///   match its manifest; `packChanged` if the pack was replaced since it was loaded; `writingFailed`. After an error
  ///   nothing has changed.
  @discardableResult public func replace(
    _ file: String, with waveform: Waveform, in pack: VoicePack
  ) throws(PackMakingError) -> PackManifest {
    var manifest = pack.manifest
    guard let clip = manifest.clips[file], manifest.sampleRate == waveform.sampleRate else {
      throw PackMakingError(
        .packInvalid, file, "is not a clip of the pack \(manifest.id) at \(waveform.sampleRate) Hz",
        remedy: "name a clip of the pack, or import the pack again")
    }
    let bytes = WAVFile.encode(waveform)
    manifest.clips[file] = PackManifest.Clip(text: clip.text, sha256: PackIntegrity.sha256(bytes))
    var files: [(name: String, bytes: Data)] = []
    do {
      try PackIntegrity.verify(pack)
      manifest.digest = try PackIntegrity.digest(of: manifest)
      for name in manifest.clips.keys.sorted() {
        files.append((name, name == file ? Data(bytes) : pack.bytes(ofClip: name) ?? Data()))
      }
      files.append((PackManifest.fileName, try manifest.json))
    } catch {
      throw PackMakingError(
        .packInvalid, manifest.id, "has files that do not match its manifest", remedy: "import the pack again")
    }
    try place(files, id: manifest.id, replacing: true, expecting: pack.manifest.digest)
    return manifest
  }

  /// Removes a pack. Other programs see either the whole pack or no pack.
  ///
  /// - Throws: `PackMakingError`: `writingFailed`. The pack is then unchanged, or its files are left in a hidden
  ///   folder.
  public func remove(_ id: String) throws(PackMakingError) {
    let folder = directory.appending(path: id, directoryHint: .isDirectory)
    let aside = directory.appending(path: ".\(id).\(UUID().uuidString)")
    do {
      try inTurn(id) { try FileManager.default.moveItem(at: folder, to: aside) }
      try FileManager.default.removeItem(at: aside)
    } catch let error as PackMakingError {
      throw error
    } catch {
      throw PackMakingError(
        .writingFailed, id, "could not be removed (\(Self.reason(error)))",
        remedy: "check the permissions of \(directory.path(percentEncoded: false))")
    }
  }

  /// Calls a closure while no other writer changes the packs.
  ///
  /// - Throws: `PackMakingError`: `writingFailed` if other writers hold the lock for too long. `SystemError`. The
  ///   errors of the closure.
  private func inTurn(_ id: String, _ change: () throws -> Void) throws {
    guard let lock = try LockedFile(directory.appending(path: Self.lockName), patience: patience) else {
      throw PackMakingError(
        .writingFailed, id, "was not changed, because another program is changing the packs of \(directory.path)",
        remedy: "try again")
    }
    try withExtendedLifetime(lock, change)
  }

  private static func reason(_ error: any Error) -> String {
    (error as? SystemError)?.description ?? error.localizedDescription
  }

  /// Returns the digest of a pack as it is now; `nil` if no pack with this id can be read.
  private func digest(of id: String) -> String? {
    let manifest = directory.appending(path: id).appending(path: PackManifest.fileName)
    return (try? Data(contentsOf: manifest)).flatMap { try? JSONDecoder().decode(PackManifest.self, from: $0) }?.digest
  }

  /// Writes the files of a pack into a draft, and puts the draft in its place in one step.
  ///
  /// - Parameter digest: the digest of the pack that is replaced; `nil` to replace any. Writing the draft can take
  ///   seconds, so the digest is compared afterwards.
  private func place(
    _ files: [(name: String, bytes: Data)], id: String, replacing: Bool, expecting digest: String? = nil
  ) throws(PackMakingError) {
    let place = directory.appending(path: id, directoryHint: .isDirectory)
    let exists = PackMakingError(
      .packExists, id, "already exists", remedy: "choose another id, or replace it (--replace)")
    if FileManager.default.fileExists(atPath: place.path) {
      guard replacing else { throw exists }
      guard FileManager.default.fileExists(atPath: place.appending(path: PackManifest.fileName).path) else {
        throw PackMakingError(
          .packExists, id, "is a folder without a pack", remedy: "move it away, or choose another id")
      }
    }
    removeAbandoned(id)
    let draft = directory.appending(path: ".\(id).\(UUID().uuidString)", directoryHint: .isDirectory)
    defer { try? FileManager.default.removeItem(at: draft) }
    do {
      try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: true)
      try write(files, into: draft)
      try inTurn(id) {
        if let digest, digest != self.digest(of: id) {
          throw PackMakingError(
            .packChanged, id, "was replaced in the meantime", remedy: "look at the pack again, and then record")
        }
        if try !DurableFolder.rename(draft, to: place) {
          guard replacing else { throw exists }
          try DurableFolder.replace(place, with: draft)
        }
      }
      try DurableFolder.synchronize(directory, calls: calls)
    } catch let error as PackMakingError {
      throw error
    } catch {
      throw PackMakingError(
        .writingFailed, id, "could not be written (\(Self.reason(error)))",
        remedy: "check the space on the disk and the permissions of \(directory.path)")
    }
  }

  /// Removes drafts that an interrupted process left behind. A draft older than an hour is abandoned, because writing a
  /// draft never takes that long.
  private func removeAbandoned(_ id: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    for name in names where name.hasPrefix(".\(id).") {
      let draft = directory.appending(path: name)
      let changed = try? FileManager.default.attributesOfItem(atPath: draft.path)[.modificationDate] as? Date
      if let changed, changed.timeIntervalSinceNow < -3600 { try? FileManager.default.removeItem(at: draft) }
    }
  }

  /// Writes files into an empty folder, and returns when they are on the disk.
  private func write(_ files: [(name: String, bytes: Data)], into draft: URL) throws(SystemError) {
    let folder = try OpenDescriptor.folder(draft, calls: calls)
    for (name, bytes) in files {
      let number = try retryingWhenInterrupted { () throws(SystemError) in
        try calls.createFile(folder.number, name, .readableByAll)
      }
      let file = OpenDescriptor(number, calls: calls)
      try calls.writeAll([UInt8](bytes), to: file.number)
      try file.synchronize()
    }
    try folder.synchronize()
  }
}

/// The files of a pack before they are written.
private struct PackContents {
  var manifest: PackManifest

  /// The files by name. The manifest is written last, so that an unfinished folder is not mistaken for a pack.
  var files: [(name: String, bytes: Data)] = []

  private struct Sound: Hashable {
    var bytes: [UInt8]
    var text: String
  }

  init(_ facts: PackFacts, _ clips: [PackClip]) throws(PackMakingError) {
    try Self.check(facts, clips)
    manifest = PackManifest(
      id: facts.id, locale: facts.locale, speaker: facts.speaker, licence: facts.licence,
      sampleRate: Recording.sampleRate, isSynthesized: facts.isSynthesized, speechServer: facts.speechServer)
    var names: [Sound: String] = [:]
    var places: [[String]: [ClipPosition: String]] = [:]
    var order: [[String]] = []
    for (index, clip) in clips.enumerated() {
      let sound = Sound(bytes: WAVFile.encode(clip.waveform), text: clip.text)
      let name = names[sound] ?? Self.fileName(clip, index: index, taken: manifest.clips)
      if names[sound] == nil {
        names[sound] = name
        manifest.clips[name] = PackManifest.Clip(text: clip.text, sha256: PackIntegrity.sha256(sound.bytes))
        files.append((name, Data(sound.bytes)))
      }
      if places[clip.tokens] == nil { order.append(clip.tokens) }
      guard places[clip.tokens, default: [:]].updateValue(name, forKey: clip.position) == nil else {
        throw PackMakingError(
          .packInvalid, clip.tokens.joined(separator: " "), "has two \(clip.position.rawValue) clips",
          remedy: "keep only one of them")
      }
    }
    for tokens in order {
      guard let found = places[tokens], let plain = found[.plain] ?? found[.final] ?? found[.rising] else { continue }
      let alternates = PackManifest.Alternates(plain: plain, rising: found[.rising], final: found[.final])
      if tokens.count == 1 {
        manifest.tokens[tokens[0]] = alternates
      } else {
        manifest.phrases.append(PackManifest.Phrase(tokens: tokens, clips: alternates))
      }
    }
    do {
      manifest.digest = try PackIntegrity.digest(of: manifest)
      files.append((PackManifest.fileName, try manifest.json))
    } catch {
      throw PackMakingError(
        .packInvalid, facts.id, "has a manifest that cannot be encoded", remedy: "use plain text in it")
    }
  }

  /// Returns the file name of a clip. If the tokens consist of ASCII letters and digits, the name is readable:
  /// `twenty.wav`, `fifty-final.wav`. Otherwise it is the clip's number, `0012.wav`. Names are in lower case, because
  /// some file systems ignore case.
  private static func fileName(_ clip: PackClip, index: Int, taken: [String: PackManifest.Clip]) -> String {
    var stem = clip.tokens.joined(separator: "-").lowercased()
    if clip.position != .plain { stem += "-\(clip.position.rawValue)" }
    let isReadable =
      stem.utf8.count <= 64 && stem.first?.isLetter == true
      && stem.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || $0 == "-" || $0 == "_" || $0.properties.numericType != nil)
      }
    let number = "\(index + 1)"
    let numbered = String(repeating: "0", count: max(0, 4 - number.count)) + number + ".wav"
    return isReadable && taken[stem + ".wav"] == nil ? stem + ".wav" : numbered
  }

  private static func check(_ facts: PackFacts, _ clips: [PackClip]) throws(PackMakingError) {
    func invalid(_ subject: String, _ problem: String, _ remedy: String) -> PackMakingError {
      PackMakingError(.packInvalid, subject, problem, remedy: remedy)
    }
    guard PackManifest.isID(facts.id) else {
      throw invalid("The pack's id", "is not a valid pack name", "use 1 to 64 ASCII letters, digits, “-”, “_” and “.”")
    }
    for (field, value) in [("locale", facts.locale), ("speaker", facts.speaker), ("licence", facts.licence)] {
      guard value.contains(where: { !$0.isWhitespace }) else {
        throw invalid("The pack's \(field)", "is empty", "give a value, which is stored with the recordings")
      }
    }
    guard !clips.isEmpty else { throw invalid(facts.id, "has no clips", "record at least one") }
    for clip in clips {
      let name = clip.tokens.joined(separator: " ")
      guard !clip.tokens.isEmpty, clip.tokens.allSatisfy({ !$0.isEmpty && !$0.contains(where: \.isWhitespace) }) else {
        throw invalid("A clip", "has no token, or a token with white space", "write the spaces in a token as “_”")
      }
      guard clip.waveform.sampleRate == Recording.sampleRate, !clip.waveform.samples.isEmpty else {
        throw invalid(name, "is empty or not at 22,050 Hz", "prepare the recording first")
      }
    }
  }
}
