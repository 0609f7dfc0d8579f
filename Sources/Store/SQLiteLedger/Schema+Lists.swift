// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The index with which the announcements of an account are listed by state and time.
  static let listIndex = """
    CREATE INDEX announcements_by_state ON announcements (account, state, accepted_at, number);
    """
}
