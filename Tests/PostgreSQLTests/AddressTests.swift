// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PostgreSQL

@Suite("Addresses of PostgreSQL servers")
struct AddressTests {
  private func address(
    _ text: String, environment: [String: String] = [:]
  ) throws(PostgreSQLError) -> PostgreSQLAddress {
    try PostgreSQLAddress(text, environment: environment)
  }

  @Test(
    "the description of an address has only its hosts and ports",
    arguments: [
      ("postgresql://crier@db1.example/payments", "db1.example"),
      ("postgres://crier@db1.example:5433/payments", "db1.example:5433"),
      ("postgresql://crier@db1.example:5433,db2.example/payments", "db1.example:5433, db2.example"),
      ("postgresql://crier@db1.example,db2.example/payments?port=6000", "db1.example:6000, db2.example:6000"),
      ("postgresql://crier@[2001:db8::1]:5432/payments", "2001:db8::1:5432"),
      ("postgresql:///payments?host=/run/postgresql&user=crier", "in /run/postgresql"),
      ("postgresql://%2Frun%2Fpostgresql/payments", "in /run/postgresql"),
      ("postgresql://db1.example/payments?hostaddr=192.0.2.1", "db1.example"),
      ("postgresql://", "of this machine"),
    ])
  func shown(text: String, shown: String) throws {
    let address = try address(text)
    #expect(address.description == shown)
    #expect(String(reflecting: address) == shown)
    var dumped = ""
    dump(address, to: &dumped)
    #expect(!dumped.contains("payments"))
    #expect(!dumped.contains("crier@"))
  }

  @Test(
    "an address with a wrong form, parameter or value is refused",
    arguments: [
      "", "db1.example", "host=db1.example dbname=payments", "mysql://db1.example/payments",
      " postgresql://db1.example",
      "postgresql://db1.example/payments?conect_timeout=5", "postgresql://db1.example:port/payments",
      "postgresql://db1.example:0/payments", "postgresql://db1.example:65536/payments",
      "postgresql://a,b,c/payments?port=1,2", "postgresql://a,b/payments?hostaddr=192.0.2.1",
      "postgresql://[2001:db8::1/payments", "postgresql://db1.example/pay%zzments",
      "postgresql://db1.example/pay%00ments",
      "postgresql://db1.example/\0", "postgresql://db1.example/payments?connect_timeout=0",
      "postgresql://db1.example/payments?connect_timeout=soon",
      "postgresql://db1.example/payments?connect_timeout=99999",
      "postgresql://db1.example/payments?service=main", "postgresql://db1.example/payments?passfile=/etc/secret",
      "postgresql://db1.example/payments?replication=true",
      "postgresql://\(Array(repeating: "a", count: 101).joined(separator: ","))/payments",
    ])
  func refused(text: String) async {
    let failure = await failure { () throws(PostgreSQLError) in try address(text) }
    #expect(failure?.code == .invalidAddress)
    #expect(failure?.description.contains("payments") != true)
  }

  @Test(
    "a password in an address is refused, and the error does not show it",
    arguments: [
      "postgresql://crier:hunter2@db1.example/payments", "postgresql://crier@db1.example/payments?password=hunter2",
      "postgresql://crier:hunter2@@db1.example/payments", "postgresql://:hunter2@db1.example/payments",
      "postgresql://crier@db1.example/payments?sslpassword=hunter2",
      "postgresql://crier:hun@ter2@db1.example/payments",
    ])
  func password(text: String) async {
    let failure = await failure { () throws(PostgreSQLError) in try address(text) }
    #expect(failure?.code == .passwordOutsideFile)
    for part in ["hunter2", "ter2", "crier", "payments"] { #expect(failure?.description.contains(part) == false) }
  }

  @Test("a password in the environment is refused")
  func environment() async {
    let failure = await failure { () throws(PostgreSQLError) in
      try address("postgresql://db1.example/payments", environment: ["PGPASSWORD": "hunter2"])
    }
    #expect(failure?.code == .passwordOutsideFile)
    #expect(failure?.description.contains("PGPASSWORD") == true)
    #expect(failure?.description.contains("hunter2") == false)
  }

  @Test("a setting for all sessions is added to those of the address, and does not replace the address's own")
  func setting() throws {
    let plain = try address("postgresql://db1.example/payments").setting("lock_timeout", to: "9s")
    #expect(plain.parameters["options"] == "-c lock_timeout=9s")
    #expect(plain.setting("work_mem", to: "8MB").parameters["options"] == "-c lock_timeout=9s -c work_mem=8MB")
    #expect(plain.setting("lock_timeout", to: "1s") == plain)
  }

  @Test("the parameters in an address replace the defaults, and the other parameters keep their defaults")
  func defaults() throws {
    let plain = try address("postgresql://db1.example/payments").parameters
    #expect(plain["target_session_attrs"] == "read-write")
    #expect(plain["connect_timeout"] == "5")
    #expect(plain["tcp_user_timeout"] == "10000")
    #expect(plain["keepalives_idle"] == "30")
    #expect(plain["dbname"] == "payments")
    let own = try address(
      "postgresql://db1.example/payments?target_session_attrs=any&connect_timeout=9&tcp_user_timeout=1"
        + "&keepalives_idle=7")
    #expect(own.parameters["target_session_attrs"] == "any")
    #expect(own.parameters["connect_timeout"] == "9")
    #expect(own.connectTimeout == .seconds(9))
    #expect(own.parameters["tcp_user_timeout"] == "1")
    #expect(own.parameters["keepalives_idle"] == "7")
  }

  @Test("texts are sent in UTF-8, even if the address names another encoding")
  func encoding() throws {
    let address = try address("postgresql://db1.example/payments?client_encoding=LATIN1")
    #expect(address.parameters["client_encoding"] == "UTF8")
  }

  @Test("each of several hosts in an address has its own port and IP address")
  func hosts() throws {
    let address = try address("postgresql://a:1,b:2/payments?hostaddr=192.0.2.1,192.0.2.2")
    #expect(
      address.hosts.map(\.parameters) == [
        ["host": "a", "hostaddr": "192.0.2.1", "port": "1"], ["host": "b", "hostaddr": "192.0.2.2", "port": "2"],
      ])
    #expect(address.parameters["host"] == nil)
  }

  @Test(
    "the network hosts of an address are listed without its sockets",
    arguments: [
      ("postgresql:///payments", []), ("postgresql:///payments?host=/run/postgresql", []),
      ("postgresql:///payments?host=@abstract", []),
      ("postgresql://crier@db1.example:5433,db2.example/payments", ["db1.example", "db2.example"]),
      ("postgresql://db1.example/payments?hostaddr=192.0.2.1", ["192.0.2.1"]),
      ("postgresql://[2001:db8::1]/payments", ["2001:db8::1"]),
    ] as [(String, [String])])
  func networkHosts(text: String, hosts: [String]) throws {
    #expect(try address(text).networkHosts == hosts)
  }

  @Test("an address that accepts every server keeps its hosts and its other options")
  func readOnly() throws {
    let address = try address("postgresql://db1.example/payments?connect_timeout=7")
    #expect(address.parameters["target_session_attrs"] == "read-write")
    let every = address.acceptingReadOnlyServers
    #expect(every.parameters["target_session_attrs"] == "any" && every.parameters["connect_timeout"] == "7")
    #expect(every.hosts == address.hosts)
  }
}
