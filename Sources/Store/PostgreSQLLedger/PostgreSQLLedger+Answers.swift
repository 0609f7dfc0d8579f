// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation
public import Ledger
import PostgreSQL
import WebhookMessages

extension AnswerToStore {
  /// The account and the key.
  fileprivate var key: AnnouncementKey { AnnouncementKey(new.account, new.key) }
}

extension PostgreSQLLedger {
  public func known(
    account: String, key: String, id: String
  ) async throws(LedgerError) -> (answer: Ledger.Answer?, announcement: Ledger.Announcement?) {
    if account.hasZero || key.hasZero || id.hasZero { return (nil, nil) }
    let oldest = Ledger.oldestAnswer(at: timeStamp)
    return try await readTogether { session in
      let answers = try Self.answers([AnnouncementKey(account, key)], in: session)
      if let answer = answers[0], answer.at >= oldest { return (answer.answer, nil) }
      return (nil, try Self.announcement(account, id, in: session))
    }
  }

  public func accept(
    answer new: NewAnswer, playing announcement: StoredAnnouncement?, pushing pushes: [NewPush],
    publishing clips: [LibrarySound]
  ) async throws(LedgerError) -> Ledger.AnswerAcceptance {
    let item = try AnswerToStore(new, playing: announcement, pushing: pushes, publishing: clips, in: self)
    try reserve(item.cost, while: .answering)
    defer { release(item.cost) }
    let result: Result<Ledger.AnswerAcceptance, LedgerError> = await waitForAnswer { answer in
      guard acceptances.add(AcceptanceQueue.Waiting(item: item, answer: answer)) else { return }
      Task { while let batch = acceptances.next() { await store(batch) } }
    }
    return try result.get()
  }

  /// Stores answers in one transaction, and tells their callers the results. If one answer breaks a rule, each answer
  /// gets a transaction of its own, so that the wrong answer does not affect the others.
  private func store(_ batch: [AcceptanceQueue.Waiting]) async {
    do throws(LedgerError) {
      let acceptances = try await write(while: .answering) { [self] session in
        try accept(batch.map(\.item), in: session)
      }
      for (waiting, acceptance) in zip(batch, acceptances) { waiting.answer.give(.success(acceptance)) }
    } catch {
      if batch.count == 1 || error.meetsEveryWrite {
        for waiting in batch { waiting.answer.give(.failure(error)) }
      } else {
        for waiting in batch { await store([waiting]) }
      }
    }
  }

  /// Stores answers and accepts their announcements.
  ///
  /// - Returns: The result for each answer, in their order. Of answers with the same key, those after the first one are
  ///   duplicates.
  func accept(
    _ items: [AnswerToStore], in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.AnswerAcceptance] {
    let at = timeStamp
    let oldest = Ledger.oldestAnswer(at: at)
    var first: [Ledger.Answer?] = Array(repeating: nil, count: items.count)
    var isNew = Array(repeating: false, count: items.count)
    // An answer that is in the way may expire or be removed before it is read. The insertion is then repeated.
    for _ in 0..<5 {
      let open = items.indices.filter { first[$0] == nil }.sorted { items[$0].key < items[$1].key }
      if open.isEmpty { break }
      // If another transaction inserts the same key at this moment, the statement waits for it to end. The next
      // statement sees that answer; this one could not.
      var given = try Self.insert(open.map { items[$0] }, at: at, in: session)
      for index in open where given.remove(items[index].key) != nil {
        first[index] = items[index].answer(at: at)
        isNew[index] = true
      }
      let others = open.filter { !isNew[$0] }
      var expired: [Int64] = []
      for (index, answer) in zip(others, try Self.answers(others.map { items[$0].key }, in: session)) {
        guard let answer else { continue }
        if answer.at >= oldest { first[index] = answer.answer } else { expired.append(answer.number) }
      }
      // An expired answer and the decision from its time are replaced.
      _ = try Self.removeAnswers(expired, in: session)
    }
    let new = items.indices.filter { isNew[$0] }
    let playing = new.filter { items[$0].announcement != nil }
    let accepted = try accept(playing.compactMap { items[$0].announcement }, in: session)
    var acceptances = Dictionary(zip(playing, accepted)) { first, _ in first }
    for (index, known) in try known(first, payloads: items.map { $0.announcement?.payload }, isNew, in: session) {
      acceptances[index] = known
    }
    // The decisions of new announcements are stored already.
    let decided = Set(zip(playing, accepted).filter { !$1.isDuplicate }.map(\.0))
    let undecided = new.filter { !decided.contains($0) }
    try store(new.map { items[$0] }, undecided: undecided.map { items[$0] }, at: at, in: session)
    return try items.indices.map { index in
      guard let answer = first[index] else { throw error(.busy, while: .answering) }
      return Ledger.AnswerAcceptance(
        answer: answer, isDuplicate: !isNew[index],
        isSameBody: isNew[index] || answer.bodyDigest == items[index].new.bodyDigest,
        acceptance: acceptances[index])
    }
  }

  /// Stores what belongs to new answers.
  ///
  /// - Parameter undecided: Those of the answers whose decisions are not stored yet.
  private func store(
    _ items: [AnswerToStore], undecided: [AnswerToStore], at: Int64, in session: borrowing PostgreSQLSession
  ) throws {
    if items.isEmpty { return }
    let decisions = undecided.map { (AnnouncementKey($0.new.account, $0.new.id), $0.new.decision) }
    let devices = items.flatMap { item in item.pushes.map { AnnouncementKey(item.new.account, $0.device) } }
    _ = try session.pipeline { pipeline in
      if !decisions.isEmpty { Self.store(decisions, at: at, &pipeline) }
      // The devices of all items are locked together, in their order. Those of one item are locked with its pushes.
      if items.count > 1, !devices.isEmpty { pipeline.add(Self.lockingDevices, devices.parameters) }
    }
    for item in items where !item.pushes.isEmpty {
      // An announcement that another transaction pushed meanwhile is not pushed again: that transaction held the lock of
      // the decision, or of the devices, until it ended.
      _ = try insert(item.pushes, account: item.new.account, announcement: item.new.id, in: session)
    }
    let clips = items.flatMap { item in item.clips.map { (clip: $0, account: item.new.account) } }
    if !clips.isEmpty { try record(clips, in: session) }
    let events = items.compactMap { item in
      WebhookEvent(storing: item.new, at: at).map { (account: item.new.account, event: $0) }
    }
    if !events.isEmpty { try tell(events, in: session) }
  }

  static let lockingDevices = """
    SELECT 1 FROM unnest($1::text[], $2::text[]) AS wanted (account, id)
      JOIN devices ON devices.account = wanted.account AND devices.id = wanted.id
    ORDER BY devices.account, devices.id FOR NO KEY UPDATE OF devices
    """

  /// Inserts answers whose keys are new.
  ///
  /// - Returns: The keys of the answers that were inserted.
  private static func insert(
    _ items: [AnswerToStore], at: Int64, in session: borrowing PostgreSQLSession
  ) throws -> Set<AnnouncementKey> {
    if items.isEmpty { return [] }
    let clips: [PostgreSQLValue] = [
      .strings(items.map { $0.new.clip?.name }), .strings(items.map { $0.new.clip?.group }),
      .byteStrings(items.map(\.words)), .byteStrings(items.map { $0.new.source?.payload }),
      .strings(items.map { $0.new.source?.defaultPack }),
    ]
    let rows = try session.rows(
      insertingAnswers,
      [
        .int64(at), .strings(items.map(\.new.account)), .strings(items.map(\.new.key)),
        .byteStrings(items.map(\.new.bodyDigest)), .strings(items.map(\.new.id)),
        .int64s(items.map { Int64($0.new.status) }), .byteStrings(items.map(\.new.report)),
      ] + clips)
    var keys: Set<AnnouncementKey> = []
    for row in rows { keys.insert(AnnouncementKey(try row.read("account"), try row.read("key"))) }
    return keys
  }

  static let insertingAnswers = """
    INSERT INTO answers (account, key, body_digest, id, status, report, clip, clip_group, words, source, source_pack,
                         created_at)
    SELECT account, key, body_digest, id, status, report, clip, clip_group, words, source, source_pack, $1
    FROM unnest($2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::bytea[], $8::text[], $9::text[],
                $10::bytea[], $11::bytea[], $12::text[])
      WITH ORDINALITY AS new (account, key, body_digest, id, status, report, clip, clip_group, words, source,
                              source_pack, place)
    ORDER BY place
    ON CONFLICT (account, key) DO NOTHING
    RETURNING account, key
    """

  public func announcement(account: String, id: String) async throws(LedgerError) -> Ledger.Announcement? {
    if account.hasZero || id.hasZero { return nil }
    return try await readTogether { session in try Self.announcement(account, id, in: session) }
  }

  @discardableResult
  public func pruneAnswers(before moment: Date, limit: Int) async throws(LedgerError) -> Int {
    let moment = try milliseconds(moment, "before", while: .pruning)
    return try await write(while: .pruning) { session in
      let numbers = try session.all(Self.oldAnswers, [.int64(moment), Self.limit(limit)]) {
        try $0.read("number", as: Int64.self)
      }
      return try Self.removeAnswers(numbers, in: session)
    }
  }

  static let oldAnswers = "SELECT number FROM answers WHERE created_at < $1 ORDER BY created_at LIMIT $2"

  /// Removes answers, and the decisions about announcements of which nothing else is left.
  ///
  /// - Returns: The number of removed answers. Those that another transaction removed meanwhile do not count.
  static func removeAnswers(_ numbers: [Int64], in session: borrowing PostgreSQLSession) throws -> Int {
    if numbers.isEmpty { return 0 }
    let locked = try session.all(lockingAnswers, [.int64s(numbers)]) {
      AnnouncementKey(try $0.read("account"), try $0.read("id"))
    }
    try lockDecisions(locked, in: session)
    let removed = try session.execute("DELETE FROM answers WHERE number = ANY ($1::bigint[])", [.int64s(numbers)])
    try removeDecisions(locked, in: session)
    return removed
  }

  static let lockingAnswers = """
    SELECT account, id FROM answers WHERE number = ANY ($1::bigint[]) ORDER BY account, key FOR UPDATE
    """

  /// Returns the stored answer of each key; nil for a key without an answer.
  private static func answers(
    _ keys: [AnnouncementKey], in session: borrowing PostgreSQLSession
  ) throws -> [(answer: Ledger.Answer, number: Int64, at: Int64)?] {
    var found: [(answer: Ledger.Answer, number: Int64, at: Int64)?] = Array(repeating: nil, count: keys.count)
    if keys.isEmpty { return found }
    let rows = try session.rows(
      answersWithKeys, [.strings(keys.map(\.account)), .strings(keys.map(\.id))])
    for row in rows {
      found[try row.value("place") - 1] = (
        try Ledger.Answer(row: row), try row.read("number"), try row.read("created_at")
      )
    }
    return found
  }

  static let answersWithKeys = """
    SELECT wanted.place, answers.* FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (account, key, place)
      JOIN answers ON answers.account = wanted.account AND answers.key = wanted.key
    """

  /// Returns the states of the announcements of answers that are not new, with the places of the answers. An announcement
  /// that is not in the ledger is left out.
  private func known(
    _ answers: [Ledger.Answer?], payloads: [Data?], _ isNew: [Bool], in session: borrowing PostgreSQLSession
  ) throws -> [(Int, Ledger.Acceptance)] {
    let places = answers.indices.filter { !isNew[$0] && answers[$0] != nil }
    if places.isEmpty { return [] }
    return try session.all(
      Self.knownAnnouncements,
      [
        .strings(places.map { answers[$0]?.account }), .strings(places.map { answers[$0]?.id }),
        .byteStrings(places.map { payloads[$0] }),
      ]
    ) { row in
      (places[try row.value("place") - 1], try Ledger.Acceptance(first: row))
    }
  }

  static let knownAnnouncements = """
    SELECT wanted.place, announcements.number, announcements.state,
      coalesce(announcements.payload = wanted.payload, true) AS same
    FROM unnest($1::text[], $2::text[], $3::bytea[]) WITH ORDINALITY AS wanted (account, id, payload, place)
      JOIN announcements ON announcements.account = wanted.account AND announcements.id = wanted.id
    """

  private static func announcement(
    _ account: String, _ id: String, in session: borrowing PostgreSQLSession
  ) throws -> Ledger.Announcement? {
    let key = AnnouncementKey(account, id)
    return try announcements([key], in: session)[key]
  }

  /// Returns the announcements with the given ids, each with its first answer.
  static func announcements(
    _ keys: [AnnouncementKey], in session: borrowing PostgreSQLSession
  ) throws -> [AnnouncementKey: Ledger.Announcement] {
    if keys.isEmpty { return [:] }
    let entries = try entries(of: keys, in: session)
    let answers = Dictionary(
      try session.all(firstAnswers, keys.parameters) { row in
        let answer = try Ledger.Answer(row: row)
        return (AnnouncementKey(answer.account, answer.id), answer)
      }
    ) { first, _ in first }
    let alone = try decisions(keys.filter { entries[$0] == nil }, in: session)
    var announcements: [AnnouncementKey: Ledger.Announcement] = [:]
    for key in keys {
      announcements[key] = Ledger.Announcement(
        account: key.account, id: key.id, entry: entries[key], answer: answers[key], decisionAlone: alone[key])
    }
    return announcements
  }

  static let firstAnswers = """
    SELECT answers.* FROM unnest($1::text[], $2::text[]) AS wanted (account, id)
      CROSS JOIN LATERAL (SELECT * FROM answers WHERE answers.account = wanted.account AND answers.id = wanted.id
                          ORDER BY number LIMIT 1) AS answers
    """
}
