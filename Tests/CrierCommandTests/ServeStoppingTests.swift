// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// No test asserts how long the service takes. Where something must not delay its end, the time limits that would end
/// it otherwise are an hour, which is longer than the time limit of the tests.
@Suite("Stopping crier serve", .timeLimit(.minutes(10)))
struct ServeStoppingTests {
  private static let body = #"{"id":"7","amount":"12.50","currency":"USD","locale":"en-US"}"#

  /// Begins a request whose body is still incomplete, and waits until the service is processing it.
  private func underWay(_ service: RunningService) throws -> RawConnection {
    let connection = try service.connect()
    try connection.send(
      "POST", "/v1/announcements",
      headers: [
        "Authorization: Bearer \(service.key ?? "")", "Content-Type: application/json",
        "Content-Length: \(Self.body.utf8.count)",
      ])
    try connection.send(String(Self.body.prefix(10)))
    try eventually("The request is under way.") {
      // The two requests are the incomplete one and this request for the metrics.
      try service.send("GET", "/metrics").text.contains("crier_requests_in_flight 2\n")
    }
    return connection
  }

  /// Waits until the service refuses connections.
  private func refusesConnections(_ service: RunningService) throws {
    try eventually("The service no longer listens.") {
      do {
        _ = try service.connect()
        return false
      } catch let failure as RawConnection.Failure where [ECONNREFUSED, ECONNRESET].contains(failure.number) {
        return true
      }
    }
  }

  @Test(
    "a signal ends the service with status 0 after it answered the request in progress", arguments: [SIGTERM, SIGINT])
  func requestUnderWay(number: Int32) throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier, environment: ["CRIER_STOP_SECONDS": "3600"])
    let connection = try underWay(service)
    service.signal(number)
    try refusesConnections(service)
    try connection.send(String(Self.body.dropFirst(10)))
    let answer = try HTTPAnswer(try connection.receiveAll())
    #expect(answer.status == 201 && answer.header("Connection") == "close")
    #expect(service.wait() == 0)

    let next = try RunningService(of: crier)
    let again = try next.announce(Self.body)
    #expect(again.status == 200 && again.body == answer.body)
  }

  @Test("when the service ends, it records the use of clips in the last minute")
  func uses() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier)
    let name = try #require(try service.announce(Self.body).json()["clip"]?["name"]?.string)
    let file = crier.sounds.appending(path: name).path
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -7 * 86_400)], ofItemAtPath: file)
    #expect(try service.send("GET", "/v1/clips/\(name)").status == 200)
    service.signal(SIGTERM)
    #expect(service.wait() == 0)
    let used = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
    #expect(try #require(used) > Date(timeIntervalSinceNow: -86_400))
  }

  @Test("an unfinished request delays the end of the service no longer than the limit")
  func stuckRequest() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(
      of: crier, environment: ["CRIER_STOP_SECONDS": "1", "CRIER_REQUEST_SECONDS": "3600"])
    let connection = try underWay(service)
    service.signal(SIGTERM)
    #expect(service.wait() == 0)
    // The request is still unfinished, and the service is gone without an answer to it.
    #expect((try? connection.receiveAll()).map(\.isEmpty) != false)
  }

  @Test("event streams and idle connections do not delay the end of the service")
  func listeners() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(
      of: crier, environment: ["CRIER_STOP_SECONDS": "3600", "CRIER_REQUEST_SECONDS": "3600"])
    let authorization = "Authorization: Bearer \(service.key ?? "")"
    let (stream, idle) = (try service.connect(), try service.connect())
    try stream.send("GET", "/v1/events", headers: [authorization])
    _ = try stream.receive(through: ": crier\n\n")
    try idle.send("GET", "/v1/playback", headers: [authorization])
    _ = try idle.receive(through: "\"waiting_count\":0}")
    service.signal(SIGTERM)
    #expect(service.wait() == 0)
    #expect(
      try String(decoding: stream.receiveAll(), as: UTF8.self).contains(
        "0\r\n\r\n"), "The stream ends completely.")
  }

  @Test("announcements that wait when the service ends are played once after a restart")
  func player() throws {
    let crier = try Command()
    defer { crier.remove() }
    let log = crier.directory.appending(path: "played.log")
    var service = try RunningService(of: crier, ["--port", "0", "--output", "file:\(log.path)"])
    #expect(try service.send("POST", "/v1/playback/pause").status == 200)
    for id in ["a", "b"] {
      let body = #"{"id":"\#(id)","amount":"1","currency":"USD","locale":"en-US","deliver":["play"]}"#
      #expect(try service.announce(body).status == 201)
    }
    service.signal(SIGTERM)
    #expect(service.wait() == 0)
    service = try RunningService(of: crier, ["--port", "0", "--output", "file:\(log.path)"])
    #expect(try service.send("POST", "/v1/playback/resume").status == 200)
    try eventually("Both are played.") {
      let list = try service.send("GET", "/v1/announcements").json()["announcements"]?.array ?? []
      #expect(list.compactMap { $0["id"]?.string } == ["b", "a"])
      return list.allSatisfy { $0["delivery"]?["play"]?["state"]?.string == "played" }
    }
    let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
    #expect(lines.filter { $0.contains("\"heard\"") }.count == 2)
  }

  @Test("an announcement that was answered with 201 survives kill -9, byte for byte")
  func killed() throws {
    let crier = try Command()
    defer { crier.remove() }
    var service = try RunningService(of: crier)
    let made = try service.announce(Self.body)
    let keyed = try service.announce(
      #"{"text":"The shop is open","locale":"en-US"}"#, headers: ["Idempotency-Key: one"])
    #expect(made.status == 201 && keyed.status == 201)
    let address = service.address
    service.signal(SIGKILL)
    #expect(service.wait() == 128 + SIGKILL)

    service = try RunningService(of: crier)
    let again = try service.announce(Self.body)
    #expect(again.status == 200 && again.body == made.body)
    let keyedAgain = try service.announce(
      #"{"text":"The shop is open","locale":"en-US"}"#, headers: ["Idempotency-Key: one"])
    #expect(keyedAgain.status == 200 && keyedAgain.body == keyed.body)
    #expect(try service.send("GET", "/v1/announcements/7").status == 200)
    // The same URL, except for the port, which differs after the restart.
    let url = try #require(try made.json()["clip"]?["url"]?.string)
    let clip = try service.send("GET", String(url.trimmingPrefix(address)), key: "")
    #expect(clip.status == 200)
    #expect(try made.json()["clip"]?["bytes"]?.number == Double(clip.body.count))
    #expect(try service.announce(#"{"id":"7","amount":"12.51","currency":"USD"}"#).code == "id_conflict")
  }
}
