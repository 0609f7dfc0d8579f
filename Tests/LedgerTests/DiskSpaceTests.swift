// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@testable import SQLiteLedger

@Suite("Disk space")
struct DiskSpaceTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  @Test(
    "a full ledger refuses announcements, still changes their states, and accepts announcements again after pruning")
  func full() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 603_000
    let ledger = try place.open(options)
    let payload = String(repeating: "x", count: 3000)
    var accepted: [Int64] = []
    var failure: LedgerError?
    while failure == nil, accepted.count < 1000 {
      do {
        accepted.append(try await ledger.accept(payment("\(accepted.count)", payload: payload)).number)
      } catch {
        failure = error
      }
    }
    #expect(failure?.code == .diskFull)
    #expect(accepted.count > 50)
    #expect(try await ledger.counts(lane: nil)[.accepted] == accepted.count)
    #expect(try await ledger.accept(payment("0")).isDuplicate, "a duplicate needs no disk space")

    for number in accepted { for state in way(to: .played) { try await ledger.set(number, state) } }
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1).announcements == accepted.count)
    let number = try await ledger.accept(payment("after", payload: payload)).number
    #expect(number > accepted[accepted.count - 1], "a number is never reused")
  }

  @Test("an announcement that does not fit on the disk does not affect the other announcements of its batch")
  func together() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 603_000
    options.reserveBytes = 0
    let ledger = try place.open(options)
    let large = String(repeating: "x", count: 200_000)
    let failures = await withTaskGroup(of: LedgerError?.self) { group in
      for id in 0..<20 {
        let new = id.isMultiple(of: 2) ? payment("\(id)", payload: large) : payment("\(id)")
        group.addTask {
          do throws(LedgerError) {
            _ = try await ledger.accept(new)
            return nil
          } catch {
            return error
          }
        }
      }
      return await group.reduce(into: [LedgerError]()) { if let error = $1 { $0.append(error) } }
    }
    #expect(failures.count == 9)
    #expect(failures.allSatisfy { $0.code == .diskFull && $0.resultCode == 13 })
    #expect(try await ledger.recent().count { $0.payload.count == 2 } == 10)
    #expect(try await ledger.events().count == 11)
  }

  @Test("a full ledger stores neither a response nor its announcement, and still returns earlier responses")
  func answers() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 543_000
    let ledger = try place.open(options)
    func answer(_ id: String, report: String = #"{"ok":1}"#) -> NewAnswer {
      NewAnswer(
        account: "shop", key: "h:\(id)", bodyDigest: digestOf("a"), id: id, status: 201, report: Data(report.utf8))
    }
    let report = String(repeating: "x", count: 3_000)
    var stored = 0
    var failure: LedgerError?
    while failure == nil, stored < 1_000 {
      do {
        _ = try await ledger.accept(
          answer: answer("\(stored)", report: report), playing: payment("\(stored)", account: "shop"))
        stored += 1
      } catch { failure = error }
    }
    #expect(failure?.code == .diskFull && stored > 30)
    #expect(try await ledger.counts(lane: nil)[.accepted] == stored)
    #expect(try await ledger.known(account: "shop", key: "h:\(stored)", id: "nobody's").answer == nil)
    #expect(try await ledger.accept(answer: answer("0")).isDuplicate)
    #expect(try await ledger.pruneAnswers(before: .distantFuture, limit: 1_000) == stored)
    #expect(try await !ledger.accept(answer: answer("new")).isDuplicate)
  }

  @Test("a full ledger accepts no push, and still records the outcomes of earlier pushes")
  func pushes() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 493_000
    let ledger = try place.open(options)
    try await ledger.register(newDevice())
    var numbers: [Int64] = []
    var failure: LedgerError?
    while failure == nil, numbers.count < 1_000 {
      var new = newPush()
      new.body = NewPush.Body(Data(repeating: 0x20, count: 4_000))
      do { numbers += try await ledger.accept([new], account: "shop") } catch { failure = error }
    }
    #expect(failure?.code == .diskFull && numbers.count > 20)
    for number in numbers { #expect(try await ledger.finishPush(number, .delivered)) }
    place.clock.advance(by: 60)
    #expect(try await ledger.prune(finishedBefore: place.clock.now).pushes == numbers.count)
    #expect(try await ledger.accept([newPush()], account: "shop").count == 1)
  }

  @Test("none of a request's payments is stored if they do not all fit into the ledger")
  func providerPayments() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 4096
    let ledger = try place.open(options)
    let new = ["a", "b"].map { id in
      var new = Ledger.NewProviderPayment(account: "shop", endpoint: "till")
      new.identity = Ledger.NewProviderPayment.Identity(
        id: Data(digestOf(id).prefix(16)), sum: Data(digestOf("12.50").prefix(8)), success: nil, until: nil)
      (new.id, new.kind, new.amount, new.currency) = (id, "received", "12.50", "CNY")
      new.payload = Data("{}".utf8)
      return new
    }
    await #expect(throws: LedgerError.self) { try await ledger.accept(providerPayments: new) }
    #expect(try await ledger.waitingProviderPayments(after: 0).isEmpty)
  }

  @Test("an answer that a full ledger refuses leads to no webhook message")
  func webhooks() async throws {
    let ledger = try place.open()
    let id = try await ledger.register(newEndpoint(), by: .currentUser).id
    var options = SQLiteLedger.Options()
    options.maximumBytes = 4096
    let full = try place.open(options)
    let answer = NewAnswer(
      account: "shop", key: "id:B", bodyDigest: digestOf("B"), id: "B", status: 201, report: Data(),
      rendered: ["method": "speech"])
    let error = try await #require(throws: LedgerError.self) { try await full.accept(answer: answer) }
    #expect(error.code == .diskFull)
    #expect(try await ledger.webhooks(account: "shop", endpoint: id).isEmpty)
  }

  @Test("the ledger's log stays bounded while other processes read it, and pruning shrinks the file")
  func bounded() async throws {
    let ledger = try place.open()
    let watcher = try place.open()
    let payload = String(repeating: "x", count: 8000)
    let largest = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var largest = 0
          for index in 0..<400 {
            let number = try await ledger.accept(payment("\(task)-\(index)", payload: payload)).number
            try await ledger.set(number, .cancelled)
            if index.isMultiple(of: 10) { _ = try await watcher.recent(100) }
            largest = max(largest, try place.size("-wal"))
          }
          return largest
        }
      }
      return try await group.reduce(0, max)
    }
    let before = try place.size()
    #expect(before > 20_000_000)
    #expect(largest < 4 * Int(SQLiteLedger.logBytes))
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1).announcements == 3200)
    // A second pruning is necessary, because the last pages of the first one were still in the log.
    try await ledger.prune(finishedBefore: place.clock.now + 1)
    #expect(try place.size() < 1_000_000)
  }
}
