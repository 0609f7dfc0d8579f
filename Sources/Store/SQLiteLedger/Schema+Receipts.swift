// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The columns of migration 21.
  ///
  /// - `decisions.refund_of` is the id of the payment that a refund pays back.
  /// - `pushes.handed_over_at` is the time at which the phone says it handed the notification over to iOS.
  /// - `webhook_endpoints.format` says how the details of messages are written: 1, texts only, for the endpoints of
  ///   earlier versions, whose receivers may expect texts; 2, with numbers and booleans.
  static let receipts = """
    ALTER TABLE decisions ADD COLUMN refund_of TEXT;
    ALTER TABLE pushes ADD COLUMN handed_over_at INTEGER;
    ALTER TABLE webhook_endpoints ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
    """
}
