// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("Scopes")
struct ScopeTests {
  @Test(
    "a scope has exactly the permissions that the table gives it",
    arguments: [
      (Scope.announce, [Permission.announce, .register]), (.read, [.read]), (.play, [.attend, .play]),
      (.till, [.read, .attend]), (.operator, [.announce, .read, .attend, .play, .operate]),
      (.admin, Permission.allCases), (.device, []),
    ])
  func allowing(scope: Scope, given: [Permission]) {
    for permission in Permission.allCases {
      #expect(Set([scope]).allow(permission) == given.contains(permission))
      #expect(permission.scopes.contains(scope) == given.contains(permission))
      #expect(!Set<Scope>().allow(permission))
    }
  }

  @Test("several scopes together allow everything that one of them allows")
  func several() {
    let scopes: Set<Scope> = [.announce, .till]
    #expect(Permission.allCases.filter(scopes.allow) == [.announce, .register, .read, .attend])
  }

  @Test("names of scopes are printed in a fixed order and can be parsed again")
  func names() {
    #expect(Set<Scope>([.admin, .read, .announce]).names == ["announce", "read", "admin"])
    #expect(Set<Scope>(names: ["play", "read", "play"]) == [.play, .read])
    #expect(Set<Scope>(names: ["operator", "till"]) == [.till, .operator])
    #expect(Set<Scope>().names.isEmpty)
  }

  @Test(
    "an unknown scope name gives no permission",
    arguments: ["", "Admin", "admin ", "push", "*", "ADMIN", "manageKeys", "attend"])
  func unknown(name: String) {
    #expect(Set<Scope>(names: [name]).isEmpty)
    #expect(Set<Scope>(names: [name, "read"]) == [.read])
  }
}
