// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundLibrary
import Testing

@testable import NotificationServiceKit

@Suite("Announcements that cannot be read", .timeLimit(.minutes(5)))
struct UnreadableAnnouncementTests {
  private static let clip = String(repeating: "ab", count: 32) + ".wav"

  private func payload(_ id: String = "p1", sequence: Int = 1, sound: String? = clip) -> Data {
    let aps = sound.map { #"{"alert":{"title":"Paid"},"sound":"\#($0)"}"# } ?? #"{"alert":{"title":"Paid"}}"#
    // A later version of the service may give the amount another form.
    return Data(#"{"aps":\#(aps),"crier":{"id":"\#(id)","sequence":\#(sequence),"locale":"en-US","amount":{}}}"#.utf8)
  }

  private struct Service: MissedAnnouncements {
    var payloads: [Data]
    func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) { (payloads, true) }
  }

  @Test("if an announcement is unreadable, the clip that the push names is heard if the phone has it")
  func ownClip() async throws {
    let phone = try PhoneFolder()
    try phone.publish(Self.clip)
    let handOvers = await phone.service().handOver(payload())
    #expect(handOvers.map(\.sound) == [.named(Self.clip)])
    #expect(phone.errorCodes == [.payloadUnreadable])
  }

  @Test("if an announcement is unreadable and the phone lacks the push's clip, the tone is heard")
  func missingClip() async throws {
    let phone = try PhoneFolder()
    #expect(await phone.service().handOver(payload()).map(\.sound) == [.systemDefault])
    try phone.publish("chime.wav")
    try FileTonePreference(container: phone.container).setTone("chime.wav")
    let second = payload("p2", sequence: 2)
    #expect(await phone.service().handOver(second).map(\.sound) == [.named("chime.wav")])
  }

  @Test("an unreadable push that names another sound keeps that sound, and one without a sound stays silent")
  func ownSound() async throws {
    let phone = try PhoneFolder()
    #expect(await phone.service().handOver(payload(sound: "cash.wav")).map(\.sound) == [.named("cash.wav")])
    let silent = payload("p2", sequence: 2, sound: nil)
    #expect(await phone.service().handOver(silent).map(\.sound) == [.silent(.asSent)])
  }

  @Test("the id and the number of an unreadable announcement are kept, and a second push with them is silent")
  func identity() async throws {
    let phone = try PhoneFolder()
    let service = phone.service()
    try service.restart(after: 0)
    _ = await service.handOver(payload())
    #expect(try service.lastSequence() == 1)
    #expect(await service.handOver(payload()).map(\.sound) == [.silent(.duplicate)])
  }

  @Test(
    "if the id or the sequence number of a push has an invalid form, that value is not used",
    arguments: [#"{"id":"","sequence":1}"#, #"{"id":"p1","sequence":0}"#, #"{"id":1,"sequence":1}"#, "7"])
  func noIdentity(_ crier: String) {
    let read = try? NotificationPayload(readable: Data(#"{"aps":{"sound":"cash.wav"},"crier":\#(crier)}"#.utf8))
    #expect(read?.sound == "cash.wav")
    #expect(read?.content == nil)
    #expect(read?.arrival == nil)
  }

  @Test("an unreadable announcement of a lost push is shown with its texts and counts as received")
  func lost() async throws {
    let phone = try PhoneFolder()
    try phone.publish(Self.clip)
    let service = phone.service(missed: Service(payloads: [payload()]))
    try service.restart(after: 0)
    await service.catchUp()
    let local = phone.local.withLock { $0 }
    #expect(local.map(\.identifier) == ["p1"])
    #expect(local.map(\.handOver.sound) == [.named(Self.clip)])
    #expect(try service.lastSequence() == 1)
  }

  @Test("a lost push without an id and a number is reported, and the search for lost pushes counts as incomplete")
  func lostWithoutNumber() async throws {
    let phone = try PhoneFolder()
    let service = phone.service(missed: Service(payloads: [Data(#"{"crier":7}"#.utf8), payload()]))
    try service.restart(after: 0)
    let missed = await service.missed(after: 0, upTo: .max)
    #expect(missed?.isComplete == false)
    #expect(phone.errorCodes.contains(.payloadUnreadable))
  }
}
