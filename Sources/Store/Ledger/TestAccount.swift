// SPDX-License-Identifier: Apache-2.0

/// The account that the test keys of a client's account use. Announcements of test keys are never played or pushed.
/// They do not appear in the lists and sums of the client's own account, and do not count towards its limits.
public enum TestAccount {
  /// The start of the accounts' names. No client's account begins with `crier:`.
  package static let prefix = "crier:test:"

  /// The longest name of an account that can have test keys, in bytes.
  public static let longestAccount = 255 - prefix.utf8.count

  /// Returns the name of the test account of a client's account.
  public static func name(of account: String) -> String { prefix + account }

  /// Returns the client's account whose test account this is; nil for another account.
  public static func owner(of name: String) -> String? {
    name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
  }
}
