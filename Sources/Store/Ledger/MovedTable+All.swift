// SPDX-License-Identifier: Apache-2.0

extension MovedTable {
  /// The tables of a ledger. A table comes before the tables that refer to it.
  ///
  /// The list leaves out what each ledger makes anew: the migrations, PostgreSQL's base of the positions of events and
  /// its counts of signed requests, and SQLite's numbers of signed requests.
  package static let all = [
    MovedTable("lanes", key: "lane", integers: "last_passed", texts: "lane"),
    MovedTable(
      "announcements", key: "number", .remembered,
      integers: "number sequence attempts starts heard accepted_at expires_at changed_at finished_at",
      booleans: "replay summary_due",
      texts: "account id lane kind category default_locale default_pack default_group state detail clip",
      bytes: "payload"),
    // A summary is copied after its announcements. Until then, the announcements refer to a row that is missing.
    MovedTable(
      "summarised", key: "summarised_by number", integers: "number summarised_by", completes: "announcements"),
    MovedTable("replays", key: "number", integers: "number original", texts: "requester"),
    MovedTable(
      "answers", key: "number", .highest, integers: "number status created_at",
      texts: "account key id clip clip_group source_pack", bytes: "body_digest report words source"),
    MovedTable(
      "decisions", key: "account id", integers: "occurred_at sequence duration accepted_at", reals: "loudness",
      texts: "account id kind text locale amount currency channel payer note method voice pack_digest clip clip_group "
        + "warnings refund_of"),
    MovedTable(
      "events", key: "position", .remembered, integers: "position at announcement", texts: "lane kind detail"),
    MovedTable("commands", key: "number", .remembered, integers: "number at value", texts: "lane kind"),
    MovedTable("pauses", key: "lane", integers: "since", texts: "lane paused_by account"),
    MovedTable("alarms", key: "lane alarm", integers: "began_at", texts: "lane alarm"),
    MovedTable(
      "keys", key: "number", .highest, integers: "number burst created_at expires_at revoked_at last_used_at",
      booleans: "strict", reals: "rate",
      texts: "id account scopes name locale pack group_id addresses rotated_to device sign_in_code", bytes: "digest"),
    MovedTable("key_changes", key: "only_row", integers: "only_row count", isSeeded: true),
    MovedTable(
      "sign_in_codes", key: "id", integers: "days created_at expires_at used_at",
      texts: "id scope account name addresses maker", bytes: "digest"),
    // SQLite numbers the requests of a key in this order, because it forgets the oldest ones first.
    MovedTable(
      "signed_requests", key: "key_id signed_at signature", integers: "signed_at", texts: "key_id", bytes: "signature"),
    MovedTable("forgotten_signed_requests", key: "only_row", integers: "only_row signed_at"),
    MovedTable(
      "administration", key: "number", .remembered, integers: "number at", texts: "actor action subject"),
    MovedTable(
      "devices", key: "account id", integers: "first_sequence last_sequence registered_at changed_at registered_after",
      texts: "account id app environment app_group device_group locale tone key_id"),
    MovedTable(
      "device_tokens", key: "account device kind", integers: "registered_at refusals",
      texts: "account device kind token"),
    MovedTable(
      "device_outcomes", key: "account device kind", integers: "at", texts: "account device kind state reason"),
    MovedTable(
      "device_enumerators", key: "account device container", integers: "registered_at",
      texts: "account device container"),
    MovedTable(
      "pushes", key: "number", .remembered,
      integers: "number sequence priority attempts starts created_at expires_at finished_at handed_over_at",
      texts: "apns_id account device announcement kind app environment collapse_id clip state reason token_kind",
      bytes: "body"),
    MovedTable(
      "webhook_endpoints", key: "number", .remembered,
      integers: "number format created_at delivered_at failing_since last_attempt_at disabled_at",
      texts: "id account url secret kinds description last_outcome disabled_reason"),
    MovedTable(
      "webhook_counts", key: "endpoint", integers: "endpoint waiting delivered failed expired missed",
      completes: "webhook_endpoints"),
    MovedTable(
      "webhooks", key: "number", .remembered,
      integers: "number endpoint attempts starts next_at first_attempt_at attempted_at created_at finished_at",
      texts: "message_id kind state outcome", bytes: "body"),
    MovedTable(
      "webhook_attempts", key: "number", .remembered, integers: "number endpoint at status milliseconds",
      texts: "outcome message kind"),
    MovedTable(
      "library_changes", key: "anchor", .remembered, integers: "anchor bytes at",
      texts: "account group_id kind name change", bytes: "sha256"),
    MovedTable("library_feed", key: "only_row", integers: "only_row expired pushed", texts: "id", isSeeded: true),
    MovedTable("batch_clips", key: "clip account", texts: "clip account batch"),
    MovedTable(
      "provider_payments", key: "number", .remembered, integers: "number starts received_at finished_at",
      texts: "account endpoint state", remarks: "id kind amount currency reason", bytes: "payload"),
    MovedTable("provider_ids", key: "id", integers: "until", bytes: "id sum"),
  ]
}
