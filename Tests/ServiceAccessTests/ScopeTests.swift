// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("Scopes")
struct ScopeTests {
  @Test("a scope allows only itself, and admin allows everything", arguments: Scope.allCases)
  func allowing(scope: Scope) {
    for asked in Scope.allCases {
      #expect(Set([scope]).allow(asked) == (scope == asked || scope == .admin))
      #expect(!Set<Scope>().allow(asked))
    }
  }

  @Test("names are printed in a fixed order and can be parsed again")
  func names() {
    #expect(Set<Scope>([.admin, .read, .announce]).names == ["announce", "read", "admin"])
    #expect(Set<Scope>(names: ["play", "read", "play"]) == [.play, .read])
    #expect(Set<Scope>().names.isEmpty)
  }

  @Test("an unknown name allows nothing", arguments: ["", "Admin", "admin ", "push", "*", "ADMIN"])
  func unknown(name: String) {
    #expect(Set<Scope>(names: [name]).isEmpty)
    #expect(Set<Scope>(names: [name, "read"]) == [.read])
  }
}
