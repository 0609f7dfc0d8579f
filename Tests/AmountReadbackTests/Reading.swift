// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Foundation

extension AmountReaders {
  /// The readers of this checkout.
  static let ofCheckout = AmountReaders(
    directory: URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Readers", directoryHint: .isDirectory).standardizedFileURL)
}

/// Reads words in one locale, and returns an amount or the code of the refusal.
struct Reading {
  enum Outcome: Equatable {
    case amount(Int64)
    case refused(AmountReadbackError.Code)
  }

  let reader: AmountReader

  init(_ locale: String) throws {
    reader = try AmountReaders.ofCheckout.reader(for: locale)
  }

  func callAsFunction(_ words: String, _ currency: String, _ minorDigits: Int = 2) -> Outcome {
    do {
      return .amount(try reader.minorUnits(in: words, currency: currency, minorDigits: minorDigits))
    } catch {
      return .refused(error.code)
    }
  }
}

/// Words, their currency, its minor digits, and the minor units that the words mean.
typealias Good = (words: String, currency: String, minorDigits: Int, minorUnits: Int64)

/// Words, their currency with two minor digits, and the reason why they are refused.
typealias Bad = (words: String, currency: String, code: AmountReadbackError.Code)
