// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PlaybackOrder
import PushMessages
import WebhookMessages

/// Stores at least one row in each table of a ledger, and as many different kinds of values as possible.
func fillEachTable(of ledger: any Ledger.Store, _ clock: SetClock) async throws {
  try await fillKeys(of: ledger)
  try await ledger.register(
    newEndpoint("hooks"), by: .key("admin"))
  try await ledger.register(
    newDevice(tokens: [.alert: "a1", .background: "b1"]), key: deviceKey("phone", of: "phone-1"), renewsKey: false,
    with: nil, by: .key("admin"))
  _ = try await ledger.addEnumerator(of: "root", account: "shop", device: "phone-1")
  try await ledger.noteOutcome(.failed, reason: "BadTopic", of: .alert, account: "shop", device: "phone-1")
  try await fillAnnouncements(of: ledger, clock)
  try await fillDeliveries(of: ledger, clock)
}

private func fillKeys(of ledger: any Ledger.Store) async throws {
  _ = try await ledger.createKey(newKey("till"))
  var guarded = newKey("guarded")
  guarded.rate = NewKey.Rate(perSecond: 2.5, burst: 10)
  (guarded.addresses, guarded.isStrict, guarded.name) = (["192.0.2.0/24", "::1"], true, "收银 é e\u{301}")
  _ = try await ledger.createKey(guarded)
  _ = try await ledger.revokeKey("till", by: .key("guarded"))
  _ = try await ledger.createSignInCode(
    NewSignInCode(
      id: "code", digest: digestOf("code"), scope: "till", account: "shop", name: "Till", days: 30), lifetime: 900,
    by: .key("guarded"))
  // Requests come in another order than that of their times.
  for (name, time) in [("s1", Int64(100)), ("s3", 300), ("s2", 200)] {
    _ = try await ledger.admitSignedRequest(digestOf(name), keyID: "guarded", signedAt: time, atMost: 1_000)
  }
  try await ledger.forgetSignedRequests(before: 101)
}

private func fillAnnouncements(of ledger: any Ledger.Store, _ clock: SetClock) async throws {
  let decision = Decision(
    kind: "received", text: "twelve dollars fifty", locale: "en-US",
    amount: Decision.Amount(value: "12.50", currency: "USD"), channel: "alipay", payer: "张三", note: "thanks",
    occurredAt: clock.now, sequence: 42, method: "mixed", voice: "shop", packDigest: "abc",
    clip: PublishedClip(name: "1.wav", group: "group.crier"), durationMilliseconds: 2_293, loudnessLUFS: -16.04,
    warnings: ["memo: unknown key, ignored"])
  // Bytes that are not text, and a payload without bytes.
  var paid = payment("A-1", account: "shop", sequence: 42)
  paid.payload = Data([0, 1, 0xFF, 0x0A])
  var answer = NewAnswer(
    account: "shop", key: "id:A-1", bodyDigest: digestOf("A-1"), id: "A-1", status: 201,
    report: Data(#"{"text":"twelve dollars fifty"}"#.utf8), clip: decision.clip, decision: decision,
    rendered: ["method": "mixed"])
  _ = try await ledger.accept(
    answer: answer, playing: paid, pushing: [newPush(clip: "1.wav"), newPush("phone-1", .background)],
    publishing: [libraryClip("1.wav")])
  (answer.key, answer.decision, answer.rendered) = ("again", nil, nil)
  answer.source = NewAnswer.Source(payload: Data([0, 0xFF, 0x0A]), defaultPack: "mine")
  _ = try await ledger.accept(answer: answer)

  var numbers: [Int64] = []
  for id in ["B-1", "B-2", "B-3"] { numbers.append(try await ledger.accept(payment(id, payload: "")).number) }
  _ = try await ledger.accept(payment("B-sum"), standingFor: [numbers[0], numbers[1]])
  for state in way(to: .played) { try await ledger.set(numbers[2], state) }
  _ = try await ledger.accept(replayAnnouncement("B-3 again"), again: numbers[2], for: "shop")
  let quiet = try await ledger.accept(payment("B-4")).number
  var change = Ledger.Change()
  change.awaitsSummary = true
  try await ledger.set(quiet, .quiet, change)

  try await ledger.record(.sequenceMissing, lane: "counter", detail: ["from": "3"], passing: 7)
  try await ledger.send(.volume(40), lane: "counter")
  try await ledger.send(.pause, lane: "counter")
  try await ledger.keep(Ledger.Pause(since: clock.now, by: "Till", account: "shop"), lane: "counter")
  try await ledger.tellAlarm(.queueLong, lane: "counter", hasBegun: true)
}

private func fillDeliveries(of ledger: any Ledger.Store, _ clock: SetClock) async throws {
  let pushes = try await ledger.unfinishedPushes().map(\.number)
  _ = try await ledger.startSending(pushes)
  if let first = pushes.first { try await ledger.finishPush(first, .delivered) }
  let messages = try await ledger.unfinishedWebhooks().map(\.number)
  _ = try await ledger.startSending(webhooks: messages)
  if let first = messages.first {
    _ = try await ledger.record(
      Ledger.WebhookAttempt(
        startedAt: clock.now, outcome: .delivered, nextAt: nil, patience: 3 * 86_400, isFirst: true),
      ofWebhook: first)
  }
  _ = try await ledger.setLibraryPacks([
    LibraryPack(id: "en-US", sha256: String(repeating: "b", count: 64), bytes: 12)
  ])
  _ = try await ledger.setLibraryTones([libraryClip("tone.wav", "c")])
  try await ledger.noteLibraryPushed(upTo: 2, under: nil)
  try await ledger.note(clips: ["2.wav"], ofBatch: "batch", account: "shop")
  _ = try await ledger.accept(providerPayments: [report("wx-1"), report("wx-2"), refused()])
  if let last = try await ledger.waitingProviderPayments(after: 0).last {
    try await ledger.end(providerPayment: last.number, refusal: nil)
  }
}

/// A payment that a provider reports. Its identity is made of its id.
func report(_ id: String) -> Ledger.NewProviderPayment {
  func bytes(_ count: Int) -> Data { Data(id.padding(toLength: count, withPad: ".", startingAt: 0).utf8) }
  var new = Ledger.NewProviderPayment(account: "shop", endpoint: "till")
  new.identity = Ledger.NewProviderPayment.Identity(id: bytes(16), sum: bytes(8))
  (new.id, new.kind, new.amount, new.currency) = (id, "received", "12.50", "CNY")
  new.payload = Data("{}".utf8)
  return new
}

private func refused() -> Ledger.NewProviderPayment {
  Ledger.NewProviderPayment(account: "shop", endpoint: "till", refusal: "The report has no sum.")
}
