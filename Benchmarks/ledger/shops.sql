-- SPDX-License-Identifier: Apache-2.0
-- Adds :shops shops: each has an account with a key, a lane, a phone with a key, and an endpoint of webhooks. :now is the
-- present time in ms since 1970. The latest attempts and the counts of the endpoints are those of shops that are busy.
SET synchronous_commit = off;
CREATE TEMP TABLE shops AS
SELECT shop, 'shop-' || lpad(shop::text, 7, '0') AS account, :now - 40 * 86400000::bigint AS since
FROM generate_series(0, :shops - 1) AS shop;
INSERT INTO lanes (lane) SELECT 'lane-' || lpad(shop::text, 7, '0') FROM shops;
INSERT INTO keys (id, account, digest, scopes, name, created_at, device)
SELECT 'key-' || of || '-' || shop, account, sha256(convert_to(of || shop, 'UTF8')), scopes, 'Key of a shop', since, device
FROM shops CROSS JOIN (VALUES ('a', 'announce read', NULL), ('d', 'device', 'phone-1')) AS new (of, scopes, device);
INSERT INTO devices (account, id, app, environment, app_group, locale, key_id, registered_at, changed_at)
SELECT account, 'phone-1', 'com.example.shop', 'production', 'group.crier', 'zh-CN', 'key-d-' || shop, since, since
FROM shops;
INSERT INTO device_tokens (account, device, kind, token, registered_at)
SELECT account, 'phone-1', 'alert', encode(sha256(convert_to(account, 'UTF8')), 'hex'), since FROM shops;
INSERT INTO device_outcomes (account, device, kind, state, at)
SELECT account, 'phone-1', 'alert', 'delivered', :now FROM shops;
INSERT INTO webhook_endpoints
  (number, id, account, url, secret, kinds, format, created_at, delivered_at, last_outcome, last_attempt_at)
SELECT shop + 1, 'whe_' || md5(account), account, 'https://shops.example/hooks?shop=' || shop,
  'whsec_' || encode(sha256(convert_to(account, 'UTF8')), 'base64'),
  'announcement.expired announcement.failed announcement.played announcement.pushed announcement.rendered', 2, since,
  :now, 'delivered', :now
FROM shops;
INSERT INTO webhook_counts (endpoint, shard, delivered) SELECT shop + 1, shard, 100 FROM shops, generate_series(0, 15) AS shard;
INSERT INTO webhook_attempts (endpoint, at, outcome, status, milliseconds, message, kind)
SELECT shop + 1, :now - place, 'delivered', 200, 40, 'msg_' || md5(account || place), 'announcement.pushed'
FROM shops, generate_series(1, 20) AS place;
SELECT setval(pg_get_serial_sequence('webhook_endpoints', 'number'), :shops);
