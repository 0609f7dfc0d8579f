// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// The tables of devices, of their tokens and last outcomes, and of the containers that their file-provider extensions
  /// show.
  ///
  /// - `devices.last_sequence` is the number of the latest announcement that was pushed to the device. It rises by one
  ///   with each announcement, in the transaction that accepts it, so it has no gaps. `devices.first_sequence` is its
  ///   value at the time of the registration: a device continues the numbers of a removed device with the same id, but
  ///   has none of its pushes.
  /// - `devices.registered_after` is the number of the last push before the device was registered.
  static let devices = """
    CREATE TABLE devices (
      account          text COLLATE "C" NOT NULL,
      id               text COLLATE "C" NOT NULL,
      app              text COLLATE "C" NOT NULL,
      environment      text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
      app_group        text COLLATE "C",
      device_group     text COLLATE "C",
      locale           text COLLATE "C",
      tone             text COLLATE "C",
      key_id           text COLLATE "C",
      first_sequence   bigint NOT NULL DEFAULT 0,
      last_sequence    bigint NOT NULL DEFAULT 0,
      registered_at    bigint NOT NULL,
      changed_at       bigint NOT NULL,
      registered_after bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (account, id)
    ) WITH (fillfactor = 80);
    CREATE INDEX devices_by_group ON devices (account, device_group) WHERE device_group IS NOT NULL;
    CREATE INDEX devices_by_key ON devices (key_id) WHERE key_id IS NOT NULL;

    CREATE TABLE device_tokens (
      account       text COLLATE "C" NOT NULL,
      device        text COLLATE "C" NOT NULL,
      kind          text COLLATE "C" NOT NULL
        CHECK (kind IN ('alert', 'background', 'fileprovider', 'fileprovider_extension')),
      token         text COLLATE "C" NOT NULL,
      registered_at bigint NOT NULL,
      refusals      bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (account, device, kind),
      FOREIGN KEY (account, device) REFERENCES devices (account, id) ON DELETE CASCADE
    );
    CREATE INDEX device_tokens_by_token ON device_tokens (account, token);

    CREATE TABLE device_outcomes (
      account text COLLATE "C" NOT NULL,
      device  text COLLATE "C" NOT NULL,
      kind    text COLLATE "C" NOT NULL,
      state   text COLLATE "C" NOT NULL,
      reason  text COLLATE "C",
      at      bigint NOT NULL,
      PRIMARY KEY (account, device, kind),
      FOREIGN KEY (account, device) REFERENCES devices (account, id) ON DELETE CASCADE
    ) WITH (fillfactor = 80);

    CREATE TABLE device_enumerators (
      account       text COLLATE "C" NOT NULL,
      device        text COLLATE "C" NOT NULL,
      container     text COLLATE "C" NOT NULL,
      registered_at bigint NOT NULL,
      PRIMARY KEY (account, device, container),
      FOREIGN KEY (account, device) REFERENCES devices (account, id) ON DELETE CASCADE
    );
    """
}
