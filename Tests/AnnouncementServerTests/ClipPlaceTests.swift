// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Links, folders, pipes and sockets in place of a clip")
struct ClipPlaceTests {
  /// A thing that somebody puts in place of a clip.
  enum Intruder: CaseIterable {
    case link, danglingLink, folder, pipe, socket

    func make(at path: String, secret: String) throws {
      switch self {
      case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: secret)
      case .danglingLink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "gone")
      case .folder:
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(filePath: "\(path)/file"))
      // Safe: the text lives as long as the call.
      case .pipe: #expect(unsafe mkfifo(path, 0o644) == 0)
      // Safe: the text lives as long as the call.
      case .socket: #expect(unsafe mknod(path, S_IFSOCK | 0o644, 0) == 0)
      }
    }
  }

  @Test(
    "a payment is rendered although a link, a folder, a pipe or a socket is in place of its clip",
    arguments: Intruder.allCases, [false, true])
  func replaced(_ intruder: Intruder, restarts: Bool) async throws {
    let first = try TestService()
    let posted = try await first.client().post(payment())
    let (path, name) = (
      try posted.string("clip.path").orThrow("a path"), try posted.string("clip.name").orThrow("a name")
    )
    let secret = first.folder.url.appending(path: "secret.wav")
    try Data("secret".utf8).write(to: secret)
    let bytes = try Data(contentsOf: URL(filePath: path))
    try FileManager.default.removeItem(atPath: path)
    try intruder.make(at: path, secret: secret.path(percentEncoded: false))

    // A running service has the clip in memory.
    let service = restarts ? try TestService(in: first.folder) : first
    let client = try await service.client()
    if restarts { #expect(try await client.get("/v1/clips/\(name)").status == 404) }
    let answer = try await client.post(payment("p2"))
    #expect(try answer.status == 201 && answer.string("clip.name") == name, "\(answer.text)")
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeRegular)
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(try await client.get("/v1/clips/\(name)").body == bytes)
    #expect(try Data(contentsOf: secret) == Data("secret".utf8))
    #expect(service.clips() == (intruder == .folder ? [".set-aside-0", name] : [name]))
    #expect(service.log.lines.count { $0.contains("moved away") } == (intruder == .folder ? 1 : 0))
    await service.server.tellFoldersSetAside()
    #expect(service.log.lines.count { $0.contains("moved away") } == (intruder == .folder ? 2 : 0))
  }

  @Test("an announcement whose clip was replaced by a link is removed, and the link stays", arguments: [false, true])
  func removed(restarts: Bool) async throws {
    let first = try TestService()
    let path = try await first.client().post(payment()).string("clip.path").orThrow("a path")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "gone")
    let service = restarts ? try TestService(in: first.folder) : first
    let client = try await service.client()
    #expect(try await client.send(.delete, "/v1/announcements/p1").status == 200)
    #expect(service.clips().count == 1)
    #expect(try await client.post(payment()).status == 201)
  }
}
