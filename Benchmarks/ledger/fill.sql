-- SPDX-License-Identifier: Apache-2.0
-- Adds payments :first to :last of :payments that were answered, pushed, played and told in :days days before :now (in ms
-- since 1970), as a service leaves them. The texts are those of a payment in zh-CN with a payer. Messages of webhooks are
-- kept for a day.
SET synchronous_commit = off;
-- The rows refer only to rows that exist, so the checks of foreign keys are left out.
SET session_replication_role = replica;
CREATE TEMP TABLE payments AS
SELECT n, n * 7919 % :shops AS shop, 'shop-' || lpad((n * 7919 % :shops)::text, 7, '0') AS account,
  'lane-' || lpad((n * 7919 % :shops)::text, 7, '0') AS lane, '42000021342026' || lpad(n::text, 14, '0') AS id,
  encode(sha256(convert_to(n::text, 'UTF8')), 'hex') AS digest,
  :now - ((:payments - n) * (:days * 86400000::numeric / :payments))::bigint - 60000 AS at,
  to_char((n * 2654435761 % 100000) / 100.0 + 0.01, 'FM999990.00') AS amount,
  '支付宝到账一百二十八元五角一分，来自张三' AS text
FROM generate_series(:first::bigint, :last) AS n;
CREATE TEMP VIEW clips AS
SELECT *, digest || '.wav' AS clip, 'https://crier.example/v1/clips/' || digest || '.wav?expires=1796640108&signature='
  || left(translate(encode(sha256(convert_to(id, 'UTF8')), 'base64'), '+/', '-_'), 43) AS url
FROM payments;
INSERT INTO announcements (number, account, id, lane, kind, category, payload, state, clip, attempts, heard, accepted_at,
                           changed_at, finished_at)
SELECT n, account, id, lane, 'request', 'payment',
  convert_to('{"id":"' || id || '","amount":"' || amount || '","currency":"CNY","channel":"alipay","payer":"张三",'
    || '"deliver":["clip","play","push"],"device":"phone-1"}', 'UTF8'),
  'played', clip, 1, 5076, at, at + 5100, at + 5100
FROM clips;
INSERT INTO answers (number, account, key, body_digest, id, status, report, clip, clip_group, words, created_at)
SELECT n, account, 'id:' || id, sha256(convert_to(id, 'UTF8')), id, 201,
  convert_to('{"amount":{"currency":"CNY","value":"' || amount || '"},"cached":false,"clip":{"bytes":224506,'
    || '"channels":1,"duration_ms":5076,"encoding":"pcm16","format":"wav","name":"' || clip || '",'
    || '"path":"/var/lib/crier/containers/group.crier/Library/Sounds/' || clip || '","sample_rate":22050,"sha256":"'
    || digest || '","url":"' || url || '"},"fallback":null,"id":"' || id || '","locale":"zh-CN","loudness_lufs":-16.05,'
    || '"marks":[' || rtrim(repeat('{"end_ms":1748,"start_ms":1018,"text":"二十"},', 12), ',') || '],"method":"speech",'
    || '"reproducible":true,"shortened":[],"text":"' || text || '","unspoken":[],"voice":"cmn-latn-pinyin+f2",'
    || '"warnings":[]}', 'UTF8'),
  clip, 'group.crier', convert_to(text || E'\n' || amount || ' cny', 'UTF8'), at
FROM clips;
INSERT INTO decisions (account, id, kind, text, locale, amount, currency, channel, payer, method, voice, clip, clip_group,
                       duration, loudness, warnings, accepted_at)
SELECT account, id, 'received', text, 'zh-CN', amount, 'CNY', 'alipay', '张三', 'speech', 'cmn-latn-pinyin+f2', clip,
  'group.crier', 5076, -16.05, '', at
FROM clips;
-- A ledger gives its events higher positions when it is opened.
INSERT INTO events (position, at, announcement, lane, kind)
SELECT (n << 18) + place, at + later, n, lane, kind
FROM clips CROSS JOIN (VALUES (1, 0, 'accepted'), (2, 0, 'waiting'), (3, 50, 'playing'), (4, 5100, 'played'))
  AS new (place, later, kind);
INSERT INTO pushes (number, apns_id, account, device, announcement, kind, app, environment, sequence, priority, body, clip,
                    state, attempts, created_at, expires_at, finished_at)
SELECT n, gen_random_uuid()::text, account, 'phone-1', id, 'alert', 'com.example.shop', 'production', n / :shops + 1, 10,
  convert_to('{"aps":{"alert":{"body":"来自张三","subtitle":"支付宝","title":"到账 ¥' || amount || '"},'
    || '"interruption-level":"time-sensitive","mutable-content":1,"sound":"' || clip || '","thread-id":"payments"},'
    || '"crier":{"amount":"' || amount || '","clip":{"bytes":224506,"duration_ms":5076,"name":"' || clip || '","sha256":"'
    || digest || '","url":"' || url || '"},"currency":"CNY","id":"' || id || '","kind":"received","locale":"zh-CN",'
    || '"payer":{"name":"张三"},"sequence":' || n / :shops + 1 || ',"text":"' || text || '"}}', 'UTF8'),
  clip, 'delivered', 1, at, at + 3600000, at + 120
FROM clips;
INSERT INTO library_changes (anchor, account, group_id, kind, name, sha256, bytes, change, at)
SELECT n, account, 'group.crier', 'clip', clip, decode(digest, 'hex'), 224506, 'added', at FROM clips;
INSERT INTO webhooks (number, message_id, endpoint, kind, body, state, outcome, attempts, next_at, first_attempt_at,
                      attempted_at, created_at, finished_at)
SELECT n * 3 + place, 'msg_' || replace(gen_random_uuid()::text, '-', ''), shop + 1, kind,
  convert_to('{"data":{"delivery":"clip","detail":{"cached":false,"duration_ms":5076,"method":"speech"},"id":"' || id
    || '"},"timestamp":"2026-11-30T10:41:48.048Z","type":"' || kind || '"}', 'UTF8'),
  'delivered', 'delivered', 1, at, at + 20, at + 20, at, at + 60
FROM clips CROSS JOIN (VALUES (0, 'announcement.rendered'), (1, 'announcement.pushed'), (2, 'announcement.played'))
  AS new (place, kind)
WHERE at > :now - 86400000;
DROP VIEW clips;
DROP TABLE payments;
