// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
public import Foundation
private import TestSupport

/// A sound server for one test, with one null sink. A monitor records what is played to it. The server is PulseAudio or
/// PipeWire; see ``SoundServerPrograms``. Clients talk to both in the same way.
///
/// Its home, runtime directory and socket are in a temporary directory. The server ends with this object.
public final class PulseServer: Sendable {
  public let directory: URL
  public let rate: Int
  private let programs = SoundServerPrograms.current
  private let processes = Locked<[Process]>([])

  /// Prepares a server without starting it.
  ///
  /// - Parameter rate: the rate of the sink in Hz; the sink is mono.
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

  /// The name of an ALSA PCM that plays to the server.
  public var pcm: String { TestPCMs.pulse(socket: socket) }

  var socket: String { "unix:\(directory.path)/native" }

  public func start() throws {
    try launch()
    try open()
  }

  /// Starts the server, and returns a recording from the first sound on. Nothing can be played before the recording
  /// runs.
  public func startRecorded() throws -> Recording {
    try launch()
    let recording = try Recording(server: "unix:\(closedSocket)", environment: environment, rate: rate)
    try open()
    return recording
  }

  /// A path where no client looks for the socket.
  private var closedSocket: String { directory.path + "/closed" }

  private func open() throws {
    guard rename(closedSocket, directory.path + "/native") == 0 else {
      throw ReadBytes.Timeout(description: "the sound server's socket is not there")
    }
  }

  private func launch() throws {
    for launch in try programs.launches(in: directory.path, socket: closedSocket, rate: rate) {
      // A killed server leaves its socket.
      if let socket = launch.socket { unlink(socket) }
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.environment = environment
      process.arguments = launch.arguments
      let log = Pipe()
      process.standardError = log
      process.standardOutput = log
      try process.run()
      processes.withLock { $0.append(process) }
      let lines = ReadBytes(log.fileHandleForReading)
      switch programs {
      case .pulseaudio:
        try lines.wait("PulseAudio's start") { bytes in
          String(decoding: bytes, as: UTF8.self).contains("Daemon startup complete")
        }
      case .pipewire:
        if let socket = launch.socket { try Self.wait(for: socket, of: launch.arguments) }
      }
    }
    if programs == .pipewire { try waitForConnections() }
  }

  /// Waits until a program has made its socket. PipeWire logs nothing when it is ready.
  private static func wait(for socket: String, of program: [String]) throws {
    let end = Date(timeIntervalSinceNow: 20)
    while access(socket, F_OK) != 0 {
      guard Date() < end else {
        throw ReadBytes.Timeout(description: "\(program.joined(separator: " ")) did not make its socket within 20 s")
      }
      usleep(2000)  // No event announces that another program has made its socket.
    }
  }

  /// Waits until a stream gets samples. Before that, WirePlumber has not connected streams to the sink, and a sound would
  /// not begin.
  private func waitForConnections() throws {
    let end = Date(timeIntervalSinceNow: 20)
    while true {
      do {
        _ = try Recording(server: "unix:\(closedSocket)", environment: environment, rate: rate)
        return
      } catch {
        // The recording program ends at once while nothing listens at the socket.
        guard Date() < end else { throw error }
        usleep(2000)
      }
    }
  }

  /// Kills the server as `kill -9` does, and returns when it has ended.
  public func kill() {
    processes.withLock { processes in
      // The process that clients talk to is killed first, so that clients notice the end of the server, and not the end
      // of its parts.
      for process in processes.reversed() { process.killAndWait() }
      processes = []
    }
  }

  /// Stops the server's processes until ``thaw()``, so that it does not answer.
  public func freeze() { signal(SIGSTOP) }
  public func thaw() { signal(SIGCONT) }

  private func signal(_ number: Int32) {
    processes.withLock { for process in $0.reversed() { Self.signal(number, process) } }
  }

  /// Starts a recording, and returns when it runs.
  ///
  /// - Parameter latency: the latency in ms for which the recording asks. PulseAudio's sink adopts a low latency. With
  ///   ``ownLatency``, the sink keeps its own latency, as if nobody recorded, and the recording returns its samples up
  ///   to 4 s late.
  public func record(latency: Int = Recording.lowLatency) throws -> Recording {
    try Recording(server: socket, environment: environment, rate: rate, latency: latency)
  }

  /// The latency in ms of a null sink of PulseAudio if no stream and no recording asks for less.
  public static let ownLatency = 2000

  private var environment: [String: String] {
    [
      "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path,
      "XDG_STATE_HOME": directory.path,
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
    ]
  }

  private static func signal(_ number: Int32, _ process: Process) { Foundation.kill(process.processIdentifier, number) }
}

/// A recording of a `PulseServer`'s output.
public final class Recording: Sendable {
  private let process: Process
  private let bytes: ReadBytes
  private let rate: Int

  /// A latency in ms with which a recording is nearly complete. When a sound begins, the sink's monitor has already
  /// output the samples into which PulseAudio mixes it. A loudspeaker would play this part, but a recording misses it.
  /// With 10 ms the recording lacks the first 9 ms of each sound, and with 2 ms the first ms.
  public static let lowLatency = 2

  init(server: String, environment: [String: String], rate: Int, latency: Int = lowLatency) throws {
    self.rate = rate
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.environment = environment
    process.arguments = [
      "parec", "--server=\(server)", "--device=speaker.monitor", "--raw", "--format=s16le", "--rate=\(rate)",
      "--channels=1", "--latency-msec=\(latency)",
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

  /// The number of frames recorded so far.
  public var frameCount: Int { bytes.count / 2 }

  /// Returns all samples as soon as the given number exists.
  public func samples(atLeast count: Int) throws -> [Int16] {
    try bytes.wait("\(count) recorded samples", until: { $0.count >= count * 2 }) { bytes in
      stride(from: 0, to: bytes.count - 1, by: 2).map {
        Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
      }
    }
  }

  /// Returns all samples after the server has ended.
  public func samplesToEnd() throws -> [Int16] {
    try bytes.waitForEnd()
    return try samples(atLeast: 0)
  }

  /// Returns all samples up to now and those of the next few ms.
  public func samples(andMilliseconds milliseconds: Int) throws -> [Int16] {
    try samples(atLeast: frameCount + milliseconds * rate / 1000)
  }
}

/// The bytes from a pipe, read on a separate thread.
///
/// The lock is a condition variable, and not a `Locked`, because a thread waits for bytes that meet a condition.
final class ReadBytes: @unchecked Sendable {  // All variables are used only under `condition`.
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

  /// Waits until the program has closed the pipe, for at most 20 s.
  func waitForEnd() throws {
    let end = Date(timeIntervalSinceNow: 20)
    try condition.withLock {
      while !isEnded {
        guard condition.wait(until: end) else { throw Timeout(description: "The program did not end within 20 s") }
      }
    }
  }

  /// Waits until the bytes meet a condition, for at most 20 s.
  ///
  /// - Parameter take: a function that examines the bytes while none are added. (If an array were returned instead,
  ///   bytes would be added to it as soon as its last reader releases it, which the thread sanitizer cannot detect.)
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
