// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation

/// The readers of a folder, `Readers/`. A language's file is read when it is first requested, and then kept.
public final class AmountReaders: Sendable {
  private let directory: URL?
  private let languages = Locked<[String: ReadingLanguage]>([:])

  /// - Parameter directory: the folder, which has a file `<language>.json` for each language; `nil` if there is none.
  public init(directory: URL?) { self.directory = directory }

  /// Returns the name of the file with the reader of a locale, such as `en.json`.
  public static func file(for locale: String) -> String { "\(language(of: locale)).json" }

  private static func language(of locale: String) -> String {
    locale.prefix { $0 != "-" && $0 != "_" }.lowercased()
  }

  /// Returns the reader of a locale, that is, of its language.
  ///
  /// - Throws: `AmountReadbackError` with code `.languageUnknown`, or `.readerInvalid` for a file with a fault.
  public func reader(for locale: String) throws(AmountReadbackError) -> AmountReader {
    let subtag = Self.language(of: locale)
    if let known = languages.withLock({ $0[subtag] }) { return AmountReader(locale, known) }
    guard !subtag.isEmpty, subtag.utf8.allSatisfy({ (0x61...0x7A).contains($0) }),
      let data = directory.flatMap({ try? Data(contentsOf: $0.appending(path: Self.file(for: locale))) })
    else { throw AmountReadbackError(code: .languageUnknown, locale: locale) }
    do throws(NumberGrammar.Fault) {
      let language = try ReadingLanguage(data: data)
      languages.withLock { $0[subtag] = language }
      return AmountReader(locale, language)
    } catch {
      throw AmountReadbackError(code: .readerInvalid, locale: locale, problem: error.text)
    }
  }
}
