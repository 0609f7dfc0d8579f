// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
import Mastering
import VoicePackIntegrity
import VoicePacks
import Waveforms

/// Checks a voice pack before a shop relies on it.
public enum PackCheck {
  /// Returns all faults of a pack. Whatever its files contain, the check completes without a trap.
  ///
  /// A clip is not measured if its sample rate differs from that of the pack.
  ///
  /// - Parameters:
  ///   - directory: the pack's folder.
  ///   - vocabulary: the vocabulary of the phrase book, for the required currencies.
  ///   - amounts: the amounts that determine how important missing words are. If they are `nil`, findings state no
  ///     shares.
  public static func check(
    directory: URL, vocabulary: Vocabulary, amounts: EverydayAmounts? = nil
  ) -> PackCheckReport {
    var inspection = PackInspection(directory: directory, vocabulary: vocabulary)
    inspection.inspect(amounts: amounts)
    return inspection.report
  }
}

/// A check that is in progress.
private struct PackInspection {
  let directory: URL
  let vocabulary: Vocabulary
  let roles: [String: Script.Role]
  let requiredTokens: Set<String>

  private var manifest: PackManifest?
  private var findings: [PackFinding] = []
  private var clips = PackCheckReport.Clips()
  private var loudnesses: [(file: String, lufs: Double)] = []
  /// The level of each clip's quietest moment, in dBFS.
  private var quietest: [Double] = []
  /// The digests of the files' actual bytes.
  private var digests: [String: String] = [:]
  /// The files that cannot be used. If a token cannot be used for another reason than its files, it is in
  /// ``unusableTokens``.
  private var unusableFiles: Set<String> = []
  private var unusableTokens: Set<String> = []

  init(directory: URL, vocabulary: Vocabulary) {
    self.directory = directory
    self.vocabulary = vocabulary
    requiredTokens = Set(vocabulary.blocks.filter(\.isRequired).flatMap(\.words).map(\.token))
    roles = Dictionary(vocabulary.words.map { ($0.token, $0.role) }) { first, _ in first }
  }

  mutating func inspect(amounts: EverydayAmounts?) {
    guard let manifest = readManifest() else { return }
    self.manifest = manifest
    let entries = manifest.entries
    let listed = Set(manifest.clips.keys)
    inspectManifest(manifest)
    for file in listed.union(entries.flatMap(\.files)).sorted() {
      inspectClip(file, manifest.clips[file], sampleRate: manifest.sampleRate)
    }
    inspectSpread()
    inspectNoise(manifest.id)
    for entry in entries { inspectTexts(of: entry, manifest) }
    inspectDuplicates(entries)
    inspectFiles(used: Set(entries.flatMap(\.files)), listed: listed)
    inspectVocabulary(manifest, amounts)
  }

  var report: PackCheckReport {
    var lacksRequired = false
    let coverage = vocabulary.blocks.map { block in
      let missing = block.words.count { !isSayable($0.token) }
      let isWhole = missing == 0 && !lacksRequired
      if block.isRequired, missing > 0 { lacksRequired = true }
      return PackCheckReport.Coverage(
        coverage: block.coverage, isRequired: block.isRequired, isSayable: isWhole, missing: missing)
    }
    return PackCheckReport(
      pack: manifest?.id ?? directory.lastPathComponent, locale: manifest?.locale ?? vocabulary.locale,
      findings: PackFinding.inOrder(findings), coverage: coverage, clips: clips)
  }

  private func isSayable(_ token: String) -> Bool {
    guard let alternates = manifest?.tokens[token], !unusableTokens.contains(token) else { return false }
    return alternates.files.allSatisfy { !unusableFiles.contains($0) }
  }

  private mutating func fail(_ code: PackFinding.Code, _ subject: String, _ problem: String, _ remedy: String) {
    findings.append(PackFinding(.error, code, subject, problem, remedy))
  }

  private mutating func warn(_ code: PackFinding.Code, _ subject: String, _ problem: String, _ remedy: String) {
    findings.append(PackFinding(.warning, code, subject, problem, remedy))
  }
}

// MARK: - The manifest

extension PackInspection {
  private mutating func readManifest() -> PackManifest? {
    let name = PackManifest.fileName
    let remedy = "build or import the pack again"
    switch read(name, maximumBytes: PackManifest.maximumBytes) {
    case .absent:
      fail(.manifestUnreadable, name, "does not exist", "check the folder's name, or \(remedy)")
    case .unreadable(let problem):
      fail(.manifestUnreadable, name, problem, remedy)
    case .bytes(let bytes):
      guard let manifest = try? JSONDecoder().decode(PackManifest.self, from: bytes) else {
        fail(.manifestUnreadable, name, "is not a valid manifest", "see docs/voice-packs.md for the fields")
        return nil
      }
      guard manifest.format == PackManifest.currentFormat else {
        fail(
          .manifestUnreadable, name,
          "has format \(manifest.format), but this program reads only \(PackManifest.currentFormat)", remedy)
        return nil
      }
      return manifest
    }
    return nil
  }

  private mutating func inspectManifest(_ manifest: PackManifest) {
    let name = PackManifest.fileName
    if let fault = manifest.withoutLostClips.fault {
      fail(.manifestInvalid, name, fault, "build or import the pack again")
    }
    let folder = directory.standardizedFileURL.lastPathComponent
    if manifest.id != folder {
      fail(.manifestInvalid, name, "has the id \(manifest.id), but the folder is \(folder)", "rename the folder")
    }
    if manifest.locale != vocabulary.locale {
      fail(
        .wrongLocale, name, "is for \(manifest.locale) instead of \(vocabulary.locale)",
        "check the pack against \(manifest.locale)")
    }
    if (try? PackIntegrity.digest(of: manifest)) != manifest.digest {
      fail(
        .wrongDigest, name, "was changed after it was written: its digest does not match",
        "build or import the pack again instead of editing it")
    }
    if manifest.sampleRate != Mastering.sampleRate {
      fail(
        .wrongSampleRate, name, "says that the clips have \(manifest.sampleRate) Hz instead of \(Mastering.sampleRate)",
        "import the recordings again to convert them")
    }
  }
}

// MARK: - Files

extension PackInspection {
  private enum Contents {
    case absent
    case unreadable(String)
    case bytes(Data)
  }

  /// Reads a plain file that is in the folder itself. Nothing else is read, because reading a pipe would wait forever.
  private func read(_ name: String, maximumBytes: Int) -> Contents {
    guard PackManifest.isFileName(name) else {
      return .unreadable("is not a plain ASCII file name; it must not name a folder")
    }
    let path = directory.appending(path: name, directoryHint: .notDirectory).path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return .absent }
    guard attributes[.type] as? FileAttributeType == .typeRegular else { return .unreadable("is not a regular file") }
    guard let size = attributes[.size] as? Int, size <= maximumBytes else {
      return .unreadable("has more than \(maximumBytes) bytes")
    }
    guard let data = FileManager.default.contents(atPath: path) else { return .unreadable("cannot be read") }
    return .bytes(data)
  }

  private mutating func inspectClip(_ file: String, _ clip: PackManifest.Clip?, sampleRate: Int) {
    let errors = findings.count
    defer {
      if findings[errors...].contains(where: { $0.severity == .error }) { unusableFiles.insert(file) }
    }
    guard let clip else {
      fail(.clipMissing, file, "is not in the manifest's clips", "import the recording again")
      return
    }
    // The limit is twice the size of the longest clip, which leaves room for comments.
    switch read(file, maximumBytes: VoicePack.maximumClipSeconds * Mastering.sampleRate * 4) {
    case .absent:
      fail(.clipMissing, file, "does not exist", "import the recording of “\(clip.text)” again")
    case .unreadable(let problem):
      fail(.clipUnreadable, file, problem, "import the recording of “\(clip.text)” again")
    case .bytes(let data):
      let digest = PackIntegrity.sha256(data)
      digests[file] = digest
      clips.count += 1
      clips.bytes += data.count
      if digest != clip.sha256 {
        fail(
          .clipChanged, file, "does not match its digest in the manifest",
          "check that it says “\(clip.text)”, and import it again")
      }
      inspectSound(file, [UInt8](data), sampleRate: sampleRate)
    }
  }

  private mutating func inspectSound(_ file: String, _ bytes: [UInt8], sampleRate: Int) {
    let remedy = "import the recording again to convert it"
    let waveform: Waveform
    do {
      waveform = try WAVFile.decode(bytes).waveform
    } catch {
      let reason = error.reason.hasSuffix(".") ? String(error.reason.dropLast()) : error.reason
      fail(error.code == .notMono ? .notMono : .clipUnreadable, file, reason, remedy)
      return
    }
    clips.seconds += Double(waveform.samples.count) / Double(waveform.sampleRate)
    guard waveform.sampleRate == Mastering.sampleRate, waveform.sampleRate == sampleRate else {
      let right = waveform.sampleRate == Mastering.sampleRate ? "the manifest says \(sampleRate)" : "22050 is right"
      fail(.wrongSampleRate, file, "has \(waveform.sampleRate) Hz; \(right)", remedy)
      return
    }
    let sound = ClipSound(file: file, waveform)
    if let level = sound.quietestDBFS { quietest.append(level) }
    findings += sound.findings
    if let loudness = sound.loudnessLUFS { loudnesses.append((file, loudness)) }
  }

  private mutating func inspectSpread() {
    let sorted = loudnesses.sorted { $0.lufs < $1.lufs }
    guard let softest = sorted.first, let loudest = sorted.last else { return }
    clips.softestLUFS = softest.lufs
    clips.loudestLUFS = loudest.lufs
    clips.medianLUFS = (sorted[(sorted.count - 1) / 2].lufs + sorted[sorted.count / 2].lufs) / 2
    let spread = loudest.lufs - softest.lufs
    guard spread > 2 * ClipSound.tolerance else { return }
    warn(
      .loudnessSpread, softest.file,
      "is \(PackCheckReport.tenths(spread)) LU quieter than \(loudest.file): announcements would vary in volume",
      "import the recordings again to level them")
  }

  /// Warns of noise. The noise of a room is present in all clips, but a single clip may lack a quiet moment because of
  /// its word (nine, मैं). There is therefore a warning only if three of four clips lack a quiet moment.
  private mutating func inspectNoise(_ id: String) {
    let sorted = quietest.sorted()
    guard !sorted.isEmpty, sorted[sorted.count / 4] > ClipSound.highestNoiseDBFS else { return }
    warn(
      .noise, id,
      "three of four clips have no moment below \(PackCheckReport.tenths(sorted[sorted.count / 4])) dBFS: the clips "
        + "contain noise, or their ends are cut off",
      "record in a quieter room, with silence around each word")
  }

  private mutating func inspectFiles(used: Set<String>, listed: Set<String>) {
    for file in listed.subtracting(used).sorted() {
      warn(.unusedClip, file, "belongs to no token and to no phrase", "import the pack again without it")
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    for file in names.sorted() where file.lowercased().hasSuffix(".wav") && !listed.contains(file) {
      warn(.strayFile, file, "is in the folder, but not in the manifest", "delete it, or import it")
    }
  }
}

// MARK: - Words

extension PackInspection {
  private func isNumberWord(_ entry: PackManifest.Phrase) -> Bool {
    entry.tokens.contains { roles[$0] == .amount || roles[$0] == .count }
  }

  /// Reports clips whose words differ from the words of their token. Such clips are never used, because they would say
  /// something else.
  private mutating func inspectTexts(of entry: PackManifest.Phrase, _ manifest: PackManifest) {
    let words = entry.tokens.map(ClipToken.words(ofName:)).joined(separator: " ")
    for file in entry.files {
      guard let clip = manifest.clips[file], !clip.says(entry.tokens) else { continue }
      fail(.wrongText, entry.name, "uses the clip \(file), whose text is “\(clip.text)”", "record “\(words)” for it")
      unusableTokens.formUnion(entry.tokens.count == 1 ? entry.tokens : [])
    }
  }

  private mutating func inspectDuplicates(_ entries: [PackManifest.Phrase]) {
    var holders: [String: [PackManifest.Phrase]] = [:]
    for entry in entries {
      for digest in Set(entry.files.compactMap { digests[$0] }) { holders[digest, default: []].append(entry) }
    }
    // A speech engine pronounces “one” and “won” alike, so their clips may be the same. A shared recording is certainly
    // wrong only if amounts in the required currencies need both words. Equal words may have the same recording.
    let shared = holders.values.filter { Set($0.map(\.name.lettersAlone)).count > 1 }
    for sharing in shared.sorted(by: { $0[0].name < $1[0].name }) {
      let names = sharing.map(\.name).joined(separator: ", ")
      let remedy = "listen to \(sharing[0].clips.plain), and record the other word again"
      let needed = sharing.filter { isNumberWord($0) && !requiredTokens.isDisjoint(with: $0.tokens) }
      if needed.count > 1 {
        fail(.duplicateClip, names, "have the same recording, so one of them says the wrong number", remedy)
        for entry in needed { unusableTokens.formUnion(entry.tokens) }
      } else {
        warn(.duplicateClip, names, "have the same recording", remedy)
      }
    }
  }

  private mutating func inspectVocabulary(_ manifest: PackManifest, _ amounts: EverydayAmounts?) {
    var shares: [String: Double]?
    for block in vocabulary.blocks {
      let missing = block.words.filter { manifest.tokens[$0.token] == nil }
      guard block.isRequired else {
        if !missing.isEmpty {
          warn(
            .missingOptional, block.coverage,
            missing.count == 1 ? "1 word is not recorded" : "\(missing.count) words are not recorded",
            "record \(Self.list(missing.map(\.text))), or let the engine speak them")
        }
        continue
      }
      for word in missing {
        var problem = "is not recorded, but is needed for \(block.coverage)"
        if let smallest = word.smallestAmount {
          problem = "is not recorded, so \(smallest) cannot be spoken"
          if let amounts {
            if shares == nil { shares = (try? amounts.shares()) ?? [:] }
            problem += "; \(amounts.phrase(share: shares?[word.token] ?? 0, smallestAmount: smallest))"
          }
        }
        fail(.missingToken, word.token, problem, "record “\(word.text)”")
      }
    }
    for token in Set(manifest.entries.flatMap(\.tokens)).subtracting(roles.keys).sorted() {
      warn(
        .unknownToken, token, "is not a token of \(vocabulary.locale)", "check its spelling in the recording sheet")
    }
  }

  /// Returns the first few of the words in quotation marks.
  private static func list(_ words: [String]) -> String {
    words.prefix(4).map { "“\($0)”" }.joined(separator: ", ") + (words.count > 4 ? " and so on" : "")
  }
}

extension PackManifest {
  /// The entries of the manifest that have clips: the tokens, in the order of their names, and then the phrases.
  fileprivate var entries: [Phrase] {
    tokens.sorted { $0.key < $1.key }.map { Phrase(tokens: [$0.key], clips: $0.value) } + phrases
  }
}

extension PackManifest.Phrase {
  fileprivate var name: String { tokens.joined(separator: " ") }
  fileprivate var files: [String] { clips.files }
}

extension PackManifest {
  /// The manifest without entries that refer to missing clips, or to clips without a plain name. Those clips are
  /// reported one by one.
  fileprivate var withoutLostClips: PackManifest {
    var rest = self
    rest.clips = clips.filter { PackManifest.isFileName($0.key) }
    func isWhole(_ alternates: Alternates) -> Bool { alternates.files.allSatisfy { rest.clips[$0] != nil } }
    rest.tokens = tokens.filter { isWhole($0.value) }
    rest.phrases = phrases.filter { isWhole($0.clips) }
    return rest
  }
}

extension PackManifest.Alternates {
  fileprivate var files: [String] { [plain, rising, final].compactMap(\.self) }
}

extension String {
  /// The text without spaces, hyphens and punctuation. Thus phrases are equal if they have the same letters.
  fileprivate var lettersAlone: String { filter { !$0.isWhitespace && !$0.isPunctuation } }
}
