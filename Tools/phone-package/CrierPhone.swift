// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The languages that this package carries.
public enum CrierPhone {
  /// The folder of phrase books, for `NotificationService.Configuration.phraseBooks`; nil if the app was built without
  /// the package's resources.
  public static var phraseBooks: URL? { Bundle.module.url(forResource: "Templates", withExtension: nil) }

  /// The folder of the readers that check amounts, for `NotificationService.Configuration.readers`; nil if the app was
  /// built without the package's resources.
  public static var readers: URL? { Bundle.module.url(forResource: "Readers", withExtension: nil) }
}
