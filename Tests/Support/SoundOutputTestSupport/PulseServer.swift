// SPDX-License-Identifier: Apache-2.0

public import Foundation
private import TestSupport

/// A PulseAudio server of a test's own with one null sink: what is played to it is recorded from its monitor.
///
/// Its home, runtime directory and socket are in a temporary directory; it ends with this object.
public final class PulseServer: @unchecked Sendable {  // `process` is used under `lock`
  public let directory: URL
  public let rate: Int
  private let lock = NSLock()
  private var process: Process?

  /// - Parameter rate: of the sink, which is mono, in Hz.
  public init(rate: Int = 48_000) throws {
    self.rate = rate
    directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: directory)
  }

  /// The name of an ALSA PCM that plays to it.
  public var pcm: String { TestPCMs.pulse(socket: socket) }

  var socket: String { "unix:\(directory.path)/native" }

  public func start() throws {
    try launch()
    try open()
  }

  /// Starts it, and returns what is heard from its first sound on: before the recording runs, nobody can play to it.
  public func startRecorded() throws -> Recording {
    try launch()
    let recording = try Recording(server: "unix:\(closedSocket)", environment: environment, rate: rate)
    try open()
    return recording
  }

  /// Where nobody looks for it.
  private var closedSocket: String { directory.path + "/closed" }

  private func open() throws {
    guard rename(closedSocket, directory.path + "/native") == 0 else {
      throw ReadBytes.Timeout(description: "PulseAudio's socket is not there")
    }
  }

  private func launch() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.environment = environment
    process.arguments = [
      "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=120", "--log-level=info",
      "--log-target=stderr", "--high-priority=no", "--realtime=no", "--disable-shm=yes",
      "-L", "module-native-protocol-unix socket=\(closedSocket) auth-anonymous=1",
      "-L", "module-null-sink sink_name=speaker rate=\(rate) channels=1 format=s16le",
    ]
    let log = Pipe()
    process.standardError = log
    process.standardOutput = log
    try process.run()
    lock.withLock { self.process = process }
    let lines = ReadBytes(log.fileHandleForReading)
    try lines.wait("PulseAudio's start") { bytes in
      String(decoding: bytes, as: UTF8.self).contains("Daemon startup complete")
    }
  }

  /// As by `kill -9`; returns when it is gone.
  public func kill() {
    lock.withLock {
      guard let process else { return }
      process.killAndWait()
      self.process = nil
    }
  }

  /// It no longer answers, until ``thaw()``.
  public func freeze() { signal(SIGSTOP) }
  public func thaw() { signal(SIGCONT) }

  private func signal(_ number: Int32) {
    lock.withLock { if let process { Self.signal(number, process) } }
  }

  /// What is heard from now on. Returns when the recording runs.
  public func record() throws -> Recording {
    try Recording(server: socket, environment: environment, rate: rate)
  }

  private var environment: [String: String] {
    [
      "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path,
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
    ]
  }

  private static func signal(_ number: Int32, _ process: Process) { Foundation.kill(process.processIdentifier, number) }
}

/// A recording of what a `PulseServer` plays.
public final class Recording: Sendable {
  private let process: Process
  private let bytes: ReadBytes
  private let rate: Int

  init(server: String, environment: [String: String], rate: Int) throws {
    self.rate = rate
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.environment = environment
    // The sink's monitor has given away so much when a sound begins that PulseAudio mixes into it afterwards: what a
    // loudspeaker would play, a recording misses. With 10 ms it lacks the first 9 ms of each sound, with 2 ms the first.
    process.arguments = [
      "parec", "--server=\(server)", "--device=speaker.monitor", "--raw", "--format=s16le", "--rate=\(rate)",
      "--channels=1", "--latency-msec=2",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    bytes = ReadBytes(output.fileHandleForReading)
    try bytes.wait("the recording's first samples") { !$0.isEmpty }
  }

  deinit {
    if process.isRunning { process.terminate() }
  }

  /// How many frames there are by now.
  public var frameCount: Int { bytes.count / 2 }

  /// All samples, as soon as there are as many as named here.
  public func samples(atLeast count: Int) throws -> [Int16] {
    try bytes.wait("\(count) recorded samples", until: { $0.count >= count * 2 }) { bytes in
      stride(from: 0, to: bytes.count - 1, by: 2).map {
        Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
      }
    }
  }

  /// All samples, when the server has ended.
  public func samplesToEnd() throws -> [Int16] {
    bytes.waitForEnd()
    return try samples(atLeast: 0)
  }

  /// All samples up to now and the next few ms.
  public func samples(andMilliseconds milliseconds: Int) throws -> [Int16] {
    try samples(atLeast: frameCount + milliseconds * rate / 1000)
  }
}

/// What comes through a pipe, read on a thread of its own.
final class ReadBytes: @unchecked Sendable {  // variables are used under `condition`
  struct Timeout: Error, CustomStringConvertible {
    let description: String
  }

  private let condition = NSCondition()
  private var bytes: [UInt8] = []
  private var isEnded = false

  init(_ handle: FileHandle) {
    Thread.detachNewThread { [self] in
      while true {
        let data = handle.availableData
        condition.withLock {
          bytes.append(contentsOf: data)
          isEnded = data.isEmpty
          condition.broadcast()
        }
        if data.isEmpty { return }
      }
    }
  }

  var count: Int { condition.withLock { bytes.count } }

  func waitForEnd() {
    condition.withLock { while !isEnded { condition.wait() } }
  }

  /// Waits until the bytes are as they should be, 20 s at most.
  ///
  /// - Parameter take: what is made of them while nothing is added. (An array handed out would be added to as soon as
  ///   its last reader has let it go, which the thread sanitizer does not see.)
  func wait<Value>(
    _ what: String, until isEnough: ([UInt8]) -> Bool, take: ([UInt8]) -> Value = { _ in }
  ) throws -> Value {
    let end = Date(timeIntervalSinceNow: 20)
    return try condition.withLock {
      while !isEnough(bytes) {
        let text = String(decoding: bytes.suffix(2000), as: UTF8.self)
        if isEnded { throw Timeout(description: "The program ended before \(what): \(text)") }
        guard condition.wait(until: end) else { throw Timeout(description: "\(what) did not come within 20 s") }
      }
      return take(bytes)
    }
  }
}
