// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
public import Foundation
public import InstallationDiagnosis

/// A look at the phrase books and the readers of amounts, which reads all of them.
public enum PhraseBookLook {
  /// - Parameters:
  ///   - folder: The folder of the phrase books.
  ///   - readers: The folder of the readers. A book whose language has no reader is broken, because no amount is spoken
  ///     in it.
  ///   - locale: The locale of announcements that name no locale; nil if the settings cannot be used.
  ///   - lexiconFault: The error of the user's lexicon; nil if there is none.
  public static func look(folder: URL, readers: URL, locale: String?, lexiconFault: String?) -> PhraseBookFacts {
    var facts = PhraseBookFacts(folder: InstallationPath.text(folder), lexiconFault: lexiconFault)
    let books: PhraseBooks
    do throws(AnnouncementError) {
      books = try PhraseBooks(directory: folder)
    } catch {
      if error.code == .phraseBooksMissing {
        facts.missing = sentence(error)
      } else {
        facts.broken = [PhraseBookFacts.Broken(locale: error.subject, error: sentence(error))]
      }
      return facts
    }
    facts.locales = books.locales
    let readers = AmountReaders(directory: readers)
    for locale in books.locales {
      do throws(AnnouncementError) {
        _ = try books.book(for: locale)
      } catch {
        facts.broken.append(PhraseBookFacts.Broken(locale: locale, error: sentence(error)))
        continue
      }
      do throws(AmountReadbackError) {
        _ = try readers.reader(for: locale)
      } catch {
        facts.broken.append(PhraseBookFacts.Broken(locale: locale, error: error.description))
      }
    }
    if let locale {
      do throws(AnnouncementError) {
        _ = try books.book(for: locale)
      } catch {
        // A book that is broken was reported above.
        if error.code == .localeUnknown { facts.defaultLocaleFault = "\(error.description)" }
      }
    }
    return facts
  }

  private static func sentence(_ error: AnnouncementError) -> String { "\(error.subject): \(error.problem)." }
}
