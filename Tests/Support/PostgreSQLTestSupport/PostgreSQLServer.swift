// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation
public import PostgreSQL
import TestSupport

/// A PostgreSQL server for tests, in a fresh folder. It listens only on a Unix socket in this folder, and does not
/// synchronise the disk. Its data are in a file system in memory, if the machine has one with enough room. Otherwise,
/// tests that make many databases would wait for the disk and for everybody else who writes to it.
///
/// A shell starts and stops the server on orders from the tests. When the input of the shell ends, the shell stops the
/// server and removes the folder. This happens however the process of the tests ends, because the kernel then closes
/// the pipe.
public final class PostgreSQLServer: Sendable {
  /// The folder with the programs of the newest server of the machine; nil if there is none.
  public static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }.sorted()
    let folders = versions.reversed().map { "\(root)/\($0)/bin" } + ["/usr/local/pgsql/bin", "/usr/bin"]
    let found = folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    if found == nil { print("THE TESTS THAT NEED A POSTGRESQL SERVER ARE SKIPPED: \(missing)") }
    return found
  }()

  /// The reason why tests are skipped without a server.
  public static let missing = "There is no initdb on this machine. Install the package postgresql."

  public static var isInstalled: Bool { programs != nil }

  /// The server that tests share. Each of them makes databases of its own.
  public static func shared() async throws -> PostgreSQLServer { try await sharedServer.value }

  private static let sharedServer = Task { try await PostgreSQLServer() }

  /// The folder of the server, with its socket.
  public let folder: URL
  private let shell: Process
  private let orders: FileHandle
  private let answers: FileHandle

  /// Starts a server. Its superuser `crier` needs no password on the socket, and its user `guarded` needs one.
  ///
  /// - Parameter settings: Lines for `postgresql.conf`, which take precedence over the server's own.
  public init(settings: String = "") async throws {
    let programs = try Self.programs.orThrow(Self.missing)
    // The path of a Unix socket has at most 107 bytes.
    folder = URL(filePath: "/tmp/crier-pg-\(UUID().uuidString.prefix(8))")
    shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", Self.script, "sh", folder.path, programs, settings]
    let (input, output) = (Pipe(), Pipe())
    shell.standardInput = input
    shell.standardOutput = output
    orders = input.fileHandleForWriting
    answers = output.fileHandleForReading
    // The shell of another server must not keep the input of this shell open.
    _ = fcntl(orders.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try shell.run()
    try input.fileHandleForReading.close()
    try output.fileHandleForWriting.close()
    try await order("make")
    try await start()
  }

  deinit { try? orders.close() }

  /// Starts the server after a stop. It accepts connections when the call returns.
  public func start() async throws { try await order("start") }

  /// Stops the server as a crash would, without a checkpoint (`pg_ctl -m immediate`).
  public func stopAtOnce() async throws { try await order("stop") }

  /// Returns the text of the address of a database on the server, as it is in a settings file.
  public func addressText(user: String = "crier", database: String = "postgres") -> String {
    "postgresql://\(user)@/\(database)?host=\(folder.path)"
  }

  /// Returns the address of a database on the server.
  public func address(
    user: String = "crier", database: String = "postgres", options: String = "", passwordFile: URL? = nil
  ) throws -> PostgreSQLAddress {
    try PostgreSQLAddress(
      addressText(user: user, database: database) + options, passwordFile: passwordFile, environment: [:])
  }

  /// Makes an empty database with a name of its own.
  ///
  /// - Returns: The name.
  public func makeDatabase() async throws -> String {
    let name = "test_\(UUID().uuidString.prefix(8).lowercased())"
    let connection = try PostgreSQLConnection(to: try address())
    try await connection.run(within: .seconds(120)) { session throws(PostgreSQLError) in
      try session.execute("CREATE DATABASE \(name) TEMPLATE template0")
    }
    await connection.close()
    return name
  }

  private func order(_ order: String) async throws {
    let (orders, answers) = (orders, answers)
    let answer = await onWaitingThread {
      guard (try? orders.write(contentsOf: Data("\(order)\n".utf8))) != nil else { return "" }
      var line = Data()
      // The shell answers each order with one line. The answer also ends if the shell ends.
      while let byte = try? answers.read(upToCount: 1), byte.first != 10, !byte.isEmpty { line += byte }
      return String(decoding: line, as: UTF8.self)
    }
    guard answer == "0" else {
      let log = (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? ""
      throw Missing(what: "the server to do “\(order)”, which ended with “\(answer)”: \(log.suffix(2_000))")
    }
  }

  /// PostgreSQL refuses to run as root. For root, the script runs it as the user of Debian's package.
  private static let script = """
    folder=$1 programs=$2 settings=$3 data=$1/data
    # In kilobytes. A container often has no more than 64 MB there.
    room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
    [ "${room:-0}" -lt 1000000 ] || data=/dev/shm/${folder##*/}
    run() {
      if [ "$(id -u)" -eq 0 ]; then set -- runuser -u postgres -- "$@"; fi
      (cd / && "$@") </dev/null >>"$folder/log" 2>&1
    }
    make() {
      mkdir "$folder" && : >"$folder/log" && chmod 666 "$folder/log" || return
      mkdir "$data" || return
      if [ "$(id -u)" -eq 0 ]; then chown postgres "$folder" "$data"; fi
      run "$programs/initdb" -D "$data" -U crier -A trust -E UTF8 --no-locale --no-sync || return
      printf 'local all guarded scram-sha-256\\nlocal all all trust\\n' >"$data/pg_hba.conf"
      cat >>"$data/postgresql.conf" <<END
    listen_addresses = ''
    unix_socket_directories = '$folder'
    fsync = off
    full_page_writes = off
    autovacuum = off
    shared_buffers = 16MB
    max_wal_size = 64MB
    max_connections = 100
    deadlock_timeout = 50ms
    $settings
    END
    }
    while read -r order; do
      case $order in
        make) make ;;
        start) run "$programs/pg_ctl" -D "$data" -w -t 120 start ;;
        stop) run "$programs/pg_ctl" -D "$data" -w -t 120 -m immediate stop ;;
      esac
      echo $?
    done
    run "$programs/pg_ctl" -D "$data" -w -t 120 -m immediate stop
    rm -rf "$folder" "$data"
    """
}

/// An empty database on the shared server.
public struct TemporaryDatabase: Sendable {
  public let server: PostgreSQLServer
  public let name: String
  public let address: PostgreSQLAddress

  public init() async throws {
    server = try await PostgreSQLServer.shared()
    name = try await server.makeDatabase()
    address = try server.address(database: name)
  }

  /// Returns a new connection to the database.
  public func connect(_ change: (inout PostgreSQLConnection.Options) -> Void = { _ in }) throws -> PostgreSQLConnection
  {
    var options = PostgreSQLConnection.Options()
    // Only the tests of time limits use short time limits.
    options.timeLimit = .seconds(120)
    options.patience = .seconds(60)
    change(&options)
    return try PostgreSQLConnection(to: address, options: options)
  }

  /// Waits until a number of sessions of the database wait for something; see "Wait Events" in the manual of
  /// PostgreSQL.
  public func sessions(_ count: Int = 1, waitFor event: String) async throws {
    try await server.sessions(count, of: name, waitFor: event)
  }
}

extension PostgreSQLServer {
  /// Waits until a number of sessions of a database wait for something.
  public func sessions(_ count: Int = 1, of database: String, waitFor event: String) async throws {
    let connection = try PostgreSQLConnection(to: try address())
    try await eventually("\(count) sessions wait for \(event)") {
      try await connection.run { session throws(PostgreSQLError) in
        let rows = try session.rows(
          "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = $1 AND wait_event = $2",
          [.string(database), .string(event)])
        let found: Int64 = try rows.first?.read("n") ?? 0
        return found == Int64(count)
      }
    }
    await connection.close()
  }
}
