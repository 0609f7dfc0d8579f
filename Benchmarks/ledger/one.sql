-- SPDX-License-Identifier: Apache-2.0
-- Stores one answer with its announcement, as PostgreSQLLedger does, by single rows.
\set shop random(0, 99999)
\set n random(1, 9000000000000000000)
BEGIN;
INSERT INTO answers (account, key, body_digest, id, status, report, clip, clip_group, words, created_at)
VALUES ('shop-' || :shop, 'id:' || :n, decode(repeat('00', 32), 'hex'), :n, 201, convert_to(:report, 'UTF8'),
        :clip || :n, 'group.crier', convert_to(:words, 'UTF8'), (extract(epoch FROM now()) * 1000)::bigint)
ON CONFLICT (account, key) DO NOTHING;
\startpipeline
INSERT INTO lanes (lane) VALUES ('lane-' || :shop) ON CONFLICT (lane) DO NOTHING;
SELECT 1 FROM lanes WHERE lane = 'lane-' || :shop FOR NO KEY UPDATE;
INSERT INTO announcements (account, id, lane, kind, category, payload, state, clip, accepted_at, changed_at)
VALUES ('shop-' || :shop, :n, 'lane-' || :shop, 'request', 'payment', convert_to(:payload, 'UTF8'), 'waiting',
        :clip || :n, (extract(epoch FROM now()) * 1000)::bigint, (extract(epoch FROM now()) * 1000)::bigint)
ON CONFLICT (account, id) DO NOTHING;
\endpipeline
\startpipeline
INSERT INTO decisions (account, id, kind, text, locale, amount, currency, channel, payer, method, voice, clip,
                       clip_group, duration, loudness, warnings, accepted_at)
VALUES ('shop-' || :shop, :n, 'received', :text, 'zh-CN', '128.51', 'CNY', 'alipay', :payer, 'speech',
        'cmn-latn-pinyin+f2', :clip || :n, 'group.crier', 5076, -16.05, '', (extract(epoch FROM now()) * 1000)::bigint)
ON CONFLICT (account, id) DO UPDATE SET kind = excluded.kind WHERE false;
INSERT INTO events (position, at, announcement, lane, kind)
SELECT base + (pg_current_xact_id()::text::bigint << 18) + place, (extract(epoch FROM now()) * 1000)::bigint,
  currval('announcements_number_seq'), 'lane-' || :shop, kind
FROM event_positions CROSS JOIN (VALUES (0, 'accepted'), (1, 'waiting')) AS new (place, kind);
\endpipeline
SELECT number, kinds FROM webhook_endpoints WHERE account = 'shop-' || :shop AND disabled_at IS NULL
ORDER BY number FOR KEY SHARE;
COMMIT;
