// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import Foundation
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("App groups", .timeLimit(.minutes(10)))
struct GroupTests {
  private func folders(_ service: TestService) -> [String] {
    let path = service.folder.url.appending(path: "containers").path(percentEncoded: false)
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  private func makeFolder(_ name: String, in folder: TemporaryFolder) throws {
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "containers/\(name)"), withIntermediateDirectories: true)
  }

  @Test("a request with an unknown app group is refused with the list of choices, and creates no folder")
  func unknown() async throws {
    let service = try TestService { $0.settings.groups = ["group.till"] }
    let client = try await service.client(group: "group.own")
    _ = try await service.client(account: "other", group: "group.secret")
    for group in ["group.new", "group.crier2", "..", "group.secret"] {
      let answer = try await client.post(payment("p1", "12.50", #""group":"\#(group)""#))
      #expect(answer.status == 422 && answer.code == "option_invalid", "\(group): \(answer.text)")
      let list = try await client.postBatch("text\none\n", query: "?group=\(group)")
      #expect(list.status == 422 && list.code == "option_invalid", "\(group): \(list.text)")
      for detail in [try answer.string("detail"), try list.string("detail")] {
        #expect(detail?.hasPrefix("group") == true)
        #expect(detail?.contains("group.crier, group.own, group.till") == true && detail?.contains("secret") == false)
      }
    }
    #expect(folders(service).isEmpty && service.voice.calls == 0)
  }

  @Test("a request may name an app group of the settings, the standard group and the group of its key")
  func known() async throws {
    let service = try TestService { $0.settings.groups = ["group.till"] }
    let client = try await service.client(group: "group.own")
    for (index, group) in ["group.till", "group.crier", "group.own"].enumerated() {
      let answer = try await client.post(payment("p\(index)", "12.50", #""group":"\#(group)""#))
      #expect(answer.status == 201 && service.clips(group).count == 1)
    }
    #expect(try await client.post(payment("p9")).status == 201)
    #expect(folders(service) == ["group.crier", "group.own", "group.till"])
  }

  @Test("without app groups in the settings, each group that has a folder at the start is allowed")
  func found() async throws {
    let folder = try TemporaryFolder()
    try makeFolder("group.old", in: folder)
    try makeFolder(".hidden", in: folder)
    let service = try TestService(in: folder)
    let client = try await service.client()
    #expect(try await client.post(payment("p1", "12.50", #""group":"group.old""#)).status == 201)
    try makeFolder("group.late", in: folder)
    #expect(try await client.post(payment("p2", "12.50", #""group":"group.late""#)).status == 422)
    let strict = try TestService(in: folder) { $0.settings.groups = [] }
    let refused = try await strict.client().post(payment("p3", "12.50", #""group":"group.old""#))
    #expect(refused.status == 422 && refused.code == "option_invalid", "a list in the settings is complete")
  }

  @Test("with more group folders than the maximum, all of them are ignored, and the log has a warning")
  func tooMany() throws {
    let folder = try TemporaryFolder()
    for number in 0..<AppGroups.mostFound { try makeFolder("group.\(number)", in: folder) }
    let containers = folder.url.appending(path: "containers")
    let few = AppGroups(standard: "group.crier", listed: nil, containers: containers)
    #expect(few.own.count == AppGroups.mostFound + 1 && !few.hasTooManyFolders)
    try makeFolder("group.one-more", in: folder)
    let many = AppGroups(standard: "group.crier", listed: nil, containers: containers)
    #expect(many.own == ["group.crier"] && many.hasTooManyFolders)
    let service = try TestService(in: folder)
    #expect(service.log.lines.contains { $0.hasPrefix("warning") && $0.contains("app group folders") })
  }

  @Test("a clip is searched for only in the app groups of the settings")
  func lookedFor() async throws {
    let service = try TestService { $0.settings.groups = ["group.till"] }
    let client = try await service.client()
    let name = try await client.post(payment("p1", "12.50", #""group":"group.till""#)).string("clip.name")
      .orThrow("a name")
    let next = try TestService(in: service.folder) { $0.settings.groups = ["group.till"] }
    let again = TestClient(server: next.server, key: client.key)
    #expect(try await again.get("/v1/clips/\(name)").status == 200)
    let containers = service.folder.url.appending(path: "containers")
    try FileManager.default.moveItem(
      at: containers.appending(path: "group.till"), to: containers.appending(path: "group.stranger"))
    let last = try TestService(in: service.folder) { $0.settings.groups = ["group.till"] }
    let late = TestClient(server: last.server, key: client.key)
    #expect(try await late.get("/v1/clips/\(name)").status == 404)
  }

  @Test("a clip in the app group of a key is found after a restart, even if the key was revoked")
  func keysGroup() async throws {
    let service = try TestService()
    let owner = try await service.client(group: "group.shop")
    let name = try await owner.post(payment()).string("clip.name").orThrow("a name")
    #expect(service.clips("group.shop") == [name])
    try await service.ledger.revokeKey(try owner.key.orThrow("a key").key.id)
    let next = try TestService(in: service.folder) { $0.settings.groups = [] }
    #expect(try await next.client().get("/v1/clips/\(name)").status == 200)
  }
}
