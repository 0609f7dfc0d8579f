-- SPDX-License-Identifier: Apache-2.0
-- Stores :rows answers with their announcements in one transaction, from arrays, as PostgreSQLLedger does. Each client
-- makes its arrays once and sends them each time. Only the ids are new.
\if :ready = 0
SELECT array_agg('shop-' || shop ORDER BY shop)::text AS accounts, array_agg('lane-' || shop ORDER BY shop)::text AS lanes,
  array_agg(:payload::text)::text AS payloads, array_agg(:report::text)::text AS reports,
  array_agg(:words::text)::text AS words, array_agg(:text::text)::text AS texts, array_agg(:payer::text)::text AS payers,
  array_agg(:clip || '-' || shop ORDER BY shop)::text AS clips
FROM (SELECT ((place * 7919 + :client_id::int * 25000) % 100000)::text COLLATE "C" AS shop
      FROM generate_series(1, :rows::int) AS place) AS shops \gset
\set ready 1
\endif
\set n random(1, 9000000000000000000)
BEGIN;
INSERT INTO answers (account, key, body_digest, id, status, report, clip, clip_group, words, created_at)
SELECT account, 'id:' || :n || '-' || place, decode(repeat('00', 32), 'hex'), :n || '-' || place, 201,
  convert_to(report, 'UTF8'), clip || :n, 'group.crier', convert_to(words, 'UTF8'),
  (extract(epoch FROM now()) * 1000)::bigint
FROM unnest(:accounts::text[], :reports::text[], :words::text[], :clips::text[])
  WITH ORDINALITY AS new (account, report, words, clip, place)
ORDER BY place
ON CONFLICT (account, key) DO NOTHING
RETURNING account, key;
\startpipeline
INSERT INTO lanes (lane) SELECT unnest(:lanes::text[]) ON CONFLICT (lane) DO NOTHING;
SELECT 1 FROM lanes WHERE lane = ANY (:lanes::text[]) ORDER BY lane FOR NO KEY UPDATE;
\endpipeline
WITH stored AS (
  INSERT INTO announcements (account, id, lane, kind, category, payload, state, clip, accepted_at, changed_at)
  SELECT account, :n || '-' || place, lane, 'request', 'payment', convert_to(payload, 'UTF8'), 'waiting', clip || :n,
    (extract(epoch FROM now()) * 1000)::bigint, (extract(epoch FROM now()) * 1000)::bigint
  FROM unnest(:accounts::text[], :lanes::text[], :payloads::text[], :clips::text[])
    WITH ORDINALITY AS new (account, lane, payload, clip, place)
  ORDER BY place
  ON CONFLICT (account, id) DO NOTHING
  RETURNING number)
SELECT array_agg(number)::text AS numbers FROM stored \gset
\startpipeline
INSERT INTO decisions (account, id, kind, text, locale, amount, currency, channel, payer, method, voice, clip,
                       clip_group, duration, loudness, warnings, accepted_at)
SELECT account, :n || '-' || place, 'received', text, 'zh-CN', '128.51', 'CNY', 'alipay', payer, 'speech',
  'cmn-latn-pinyin+f2', clip || :n, 'group.crier', 5076, -16.05, '', (extract(epoch FROM now()) * 1000)::bigint
FROM unnest(:accounts::text[], :texts::text[], :payers::text[], :clips::text[])
  WITH ORDINALITY AS new (account, text, payer, clip, place)
ON CONFLICT (account, id) DO UPDATE SET kind = excluded.kind WHERE false;
INSERT INTO events (position, at, announcement, lane, kind)
SELECT base + (pg_current_xact_id()::text::bigint << 18) + 2 * place + later,
  (extract(epoch FROM now()) * 1000)::bigint, number, lane, kind
FROM event_positions CROSS JOIN unnest(:numbers::bigint[], :lanes::text[]) WITH ORDINALITY AS new (number, lane, place)
  CROSS JOIN (VALUES (0, 'accepted'), (1, 'waiting')) AS kinds (later, kind);
\endpipeline
SELECT number, kinds FROM webhook_endpoints WHERE account = ANY (:accounts::text[]) AND disabled_at IS NULL
ORDER BY number FOR KEY SHARE;
COMMIT;
