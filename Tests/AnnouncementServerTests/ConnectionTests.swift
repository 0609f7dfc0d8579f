// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import AnnouncementServer

@Suite("The end of a connection", .timeLimit(.minutes(10)))
struct ConnectionTests {
  @Test("all watchers of a connection learn that it ended, also watchers that start afterwards")
  func ends() async {
    let connection = Connection(peer: nil)
    let (one, two) = (connection.ends(), connection.ends())
    connection.end()
    connection.end()
    for stream in [one, two, connection.ends()] {
      var count = 0
      for await _ in stream { count += 1 }
      #expect(count == 1)
    }
  }

  @Test("a cancelled watcher of a connection is removed")
  func forgotten() async {
    let connection = Connection(peer: nil)
    for _ in 0..<10 {
      let task = Task { for await _ in connection.ends() {} }
      task.cancel()
      await task.value
    }
    #expect(connection.watchers == 0)
  }

  @Test("a connection is over when the client stops sending or the connection is closed", arguments: [true, false])
  func handler(isHalf: Bool) throws {
    let connection = Connection(peer: nil)
    let channel = EmbeddedChannel(handler: ConnectionHandler(connection, authority: "127.0.0.1", limit: .seconds(30)))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    #expect(!connection.isOver)
    if isHalf { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    if !isHalf { _ = try channel.finish() }
    #expect(connection.isOver)
    if isHalf { _ = try channel.finish() }
  }
}

@Suite("Account slots")
struct AccountSlotsTests {
  private func code(_ slots: AccountSlots, _ account: String) -> String? {
    do {
      _ = try slots.take(account)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(
    "stream slots are limited for each account and in total, and a slot is freed once, at the latest with its owner"
  )
  func slots() throws {
    let slots = AccountSlots("streams", most: 3, mostOfOne: 2)
    let first = try slots.take("a")
    var second: AccountSlots.Slot? = try slots.take("a")
    #expect(code(slots, "a") == "account_busy")
    let third = try slots.take("b")
    #expect(code(slots, "c") == "busy" && slots.count == 3)
    for _ in 0..<3 { first.free() }
    #expect(slots.count == 2 && second != nil)
    second = nil
    #expect(slots.count == 1)
    third.free()
    #expect(slots.count == 0 && code(slots, "a") == nil && slots.count == 0)
  }
}
