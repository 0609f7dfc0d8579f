// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import Testing

@testable import LibraryCopies

@Suite("The turn of an update")
struct LibraryTurnTests {
  private let phone: TemporaryCopy
  private var service: PlayedService { phone.service }

  init() throws {
    phone = try TemporaryCopy()
    for number in 1...3 { service.addClip(clip(number), [UInt8(number)]) }
    try service.addPack("warm", ["a.wav": [7], "b.wav": [8]])
    service.addTone("chime.wav", [9])
  }

  private var isWhole: Bool {
    phone.clips.count == 4 && phone.pack("warm").count == 3 && phone.packs == ["warm"] && phone.left.isEmpty
  }

  @Test("an update holds no lock while it calls the service")
  func noLock() async throws {
    let states = Locked<[Bool]>([])
    let lock = phone.places.lock
    service.whenCalled.withLock { hook in
      hook = { _ in
        let isLocked = (try? LockedFile.look(at: lock, count: 0))?.isLocked
        states.withLock { $0.append(isLocked ?? true) }
      }
    }
    try await phone.update()
    #expect(states.withLock { $0 } == Array(repeating: false, count: 8))
    #expect(isWhole)
  }

  @Test("a second update during any call of the first one is busy, and no file is fetched twice", arguments: 1...8)
  func secondUpdate(call: Int) async throws {
    let (phone, outcomes) = (phone, Locked<[LibraryCopy.Outcome]>([]))
    service.whenCalled.withLock { hook in
      hook = { number in
        guard number == call, let outcome = try? await phone.copy().update() else { return }
        outcomes.withLock { $0.append(outcome) }
      }
    }
    try await phone.update()
    #expect(outcomes.withLock { $0 } == [.busy])
    #expect(Set(service.fetched).count == service.fetched.count)
    #expect(isWhole)
  }

  @Test(
    "an update without progress is overtaken and changes nothing more, and only its unfinished file is fetched twice",
    arguments: 1...8)
  func overtaken(call: Int) async throws {
    let phone = phone
    let next = Locked<LibraryCopy.Outcome?>(nil)
    service.whenCalled.withLock { hook in
      hook = { number in
        guard number == call else { return }
        phone.pass(61)
        let outcome = try? await phone.copy().update()
        next.withLock { $0 = outcome }
      }
    }
    let error = await phone.failure()
    guard case .updated = next.withLock({ $0 }) else {
      Issue.record("The second update did not take over.")
      return
    }
    #expect(error?.code == .overtaken)
    #expect(service.fetched.count <= Set(service.fetched).count + 1)
    #expect(isWhole)
    #expect(phone.copy().manifest().anchor == "5")
    #expect(try await phone.update().fetchedFiles == 0)
  }

  @Test("an update that makes progress is not overtaken, however long it takes")
  func progress() async throws {
    let (phone, outcomes) = (phone, Locked<[LibraryCopy.Outcome]>([]))
    service.whenCalled.withLock { hook in
      hook = { number in
        phone.pass(50)
        guard number == 8, let outcome = try? await phone.copy().update() else { return }
        outcomes.withLock { $0.append(outcome) }
      }
    }
    try await phone.update()
    #expect(outcomes.withLock { $0 } == [.busy])
    #expect(isWhole)
  }

  @Test(
    "a turn file that is damaged, has expired, or ends far in the future does not delay an update",
    arguments: ["", "{", #"{"id":"x","end":0}"#, #"{"id":"x","end":99999999999}"#])
  func otherTurns(_ text: String) async throws {
    try FileManager.default.createDirectory(at: phone.places.folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: phone.places.turn)
    try await phone.update()
    #expect(isWhole)
    #expect(!FileManager.default.fileExists(atPath: phone.places.turn.path(percentEncoded: false)))
  }

  @Test("after a process is killed during an update, other updates are busy for a minute")
  func endedProcess() async throws {
    let turn = LibraryTurn(places: phone.places, length: LibraryCopy.shortestTurn, now: phone.now)
    #expect(try await turn.begin())
    #expect(try await phone.copy().update() == .busy)
    phone.pass(61)
    try await phone.update()
    #expect(isWhole)
    await #expect(throws: LibraryCopyError(.overtaken)) { try await turn.change {} }
  }
}
