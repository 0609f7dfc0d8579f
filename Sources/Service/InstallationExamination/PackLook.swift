// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
public import InstallationDiagnosis
import VoicePackIntegrity
public import VoicePacks

/// A look at the voice packs, which reads and checks every byte of them.
public enum PackLook {
  /// - Parameters:
  ///   - own: The folder of the user's own packs, which take precedence.
  ///   - installed: The folder of the packs that belong to the installation.
  ///   - choices: The file with the packs that were chosen.
  ///   - settled: The choices of the settings.
  ///   - books: The phrase books, which show the missing words of a pack; nil if they cannot be read.
  public static func look(
    own: URL, installed: URL, choices: URL, settled: ChosenPacks, books: PhraseBooks?
  ) -> VoicePackFacts {
    let shelf = VoicePackShelf(folders: [own, installed], choices: choices, settled: settled)
    let ids = shelf.ids
    let packs = ids.compactMap { id in
      shelf.directory(id: id).map { folder in
        VoicePackFacts.Pack(
          id: id, isUsers: folder.deletingLastPathComponent().standardizedFileURL.path == own.standardizedFileURL.path,
          condition: condition(of: folder, books))
      }
    }
    let missing = shelf.choices.filter { !ids.contains($0.id) }.map {
      VoicePackFacts.MissingChoice(locale: $0.locale, id: $0.id, isSetting: shelf.isSettled($0.locale))
    }
    return VoicePackFacts(packs: packs, missingChoices: missing, choicesFault: shelf.choicesFault?.description)
  }

  private static func condition(of folder: URL, _ books: PhraseBooks?) -> VoicePackFacts.Condition {
    do throws(VoicePackError) {
      // The file is copied, because a mapped file that is truncated during the check would crash the process.
      let pack = try VoicePack(directory: folder, storage: .copied)
      do throws(VoicePackIntegrityError) {
        try PackIntegrity.verify(pack)
        let manifest = pack.manifest
        let vocabulary = try? books?.writer(for: manifest.locale).vocabulary()
        return .sound(
          digest: manifest.digest, locale: manifest.locale,
          lacking: vocabulary.map { manifest.tokensLacking(of: $0).count } ?? 0)
      } catch {
        return .changed(file: error.file ?? PackManifest.fileName)
      }
    } catch {
      return .unusable("\(error.subject): \(error.problem)")
    }
  }
}
