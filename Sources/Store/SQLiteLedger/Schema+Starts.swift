// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The columns of migration 12.
  ///
  /// - `starts` is the number of times that work on the row has begun since work on it last came to an end. It is above
  ///   0 while the work is under way, and after a crash that interrupted it; see ``InterruptedWork``.
  /// - `webhooks.attempted_at` is the time of the latest attempt, from which `next_at` was computed.
  /// - `devices.registered_after` is the number of the last push before the device was registered. Numbers never go
  ///   back, unlike the clock.
  static let starts = """
    ALTER TABLE webhooks ADD COLUMN starts INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE webhooks ADD COLUMN attempted_at INTEGER;
    ALTER TABLE pushes ADD COLUMN starts INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE announcements ADD COLUMN starts INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX webhooks_set_aside ON webhooks (number) WHERE starts >= 2 AND finished_at IS NULL;
    CREATE INDEX pushes_set_aside ON pushes (number) WHERE starts >= 2 AND finished_at IS NULL;
    CREATE INDEX announcements_set_aside ON announcements (number) WHERE starts >= 2 AND finished_at IS NULL;

    ALTER TABLE devices ADD COLUMN registered_after INTEGER NOT NULL DEFAULT 0;
    UPDATE devices SET registered_after = old.number FROM (
      SELECT pushes.account, pushes.device, max(number) AS number
      FROM pushes JOIN devices ON devices.account = pushes.account AND devices.id = pushes.device
      WHERE finished_at IS NULL AND created_at < registered_at
      GROUP BY pushes.account, pushes.device
    ) AS old WHERE devices.account = old.account AND devices.id = old.device;
    """
}
