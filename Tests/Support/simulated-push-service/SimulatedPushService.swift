// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Foundation

/// The push service of the simulated phones: it prints what each phone gets, and takes phones off and on.
///
/// Usage: simulated-push-service --ca FILE [--reorder RATE] [--drop RATE] [--seed N]
///
/// Standard output has one line with the port, and then one line of JSON for each delivery. Standard input takes lines
/// such as `{"device": "0f…", "online": false}`. When the input ends, the program prints the counts and ends.
@main
struct SimulatedPushService {
  private struct Control: Decodable {
    var device: String
    var online: Bool
  }

  private struct Delivery: Encodable {
    var device: String
    var id: String
    var type: String
    var acceptedMilliseconds: Int64
    var deliveredMilliseconds: Int64?

    enum CodingKeys: String, CodingKey {
      case device, id, type
      case acceptedMilliseconds = "accepted_ms"
      case deliveredMilliseconds = "delivered_ms"
    }
  }

  static func main() async throws {
    var configuration = APNSSimulator.Configuration()
    configuration.remembersDeliveries = false
    // The service of a test is started again and again, each time with a new provider token.
    configuration.tokenUpdateInterval = 0
    var rest = CommandLine.arguments.dropFirst()
    while let option = rest.popFirst(), let value = rest.popFirst() {
      switch option {
      case "--ca": configuration.certificateAuthorityFile = URL(filePath: value)
      case "--reorder": configuration.reorderRate = Double(value) ?? 0
      case "--drop": configuration.dropRate = Double(value) ?? 0
      case "--seed": configuration.seed = UInt64(value) ?? 1
      default: fatalError("unknown option \(option)")
      }
    }
    let simulator = try await APNSSimulator.start(configuration)
    let deliveries = simulator.deliveries()
    write("{\"port\":\(simulator.port)}")
    let printing = Task {
      for await push in deliveries { write(try line(push)) }
    }
    await readControls(for: simulator)
    simulator.releaseHeldPushes()
    await simulator.stop()
    try await printing.value
    let counts = simulator.counts
    write(
      "{\"counts\":{\"accepted\":\(counts.accepted),\"delivered\":\(counts.delivered),\"dropped\":\(counts.dropped),"
        + "\"reordered\":\(counts.reordered)}}")
  }

  private static func readControls(for simulator: APNSSimulator) async {
    let lines = AsyncStream<String> { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
    for await line in lines {
      guard let control = try? JSONDecoder().decode(Control.self, from: Data(line.utf8)) else { continue }
      simulator.setOnline(control.device, control.online)
    }
  }

  /// The payload is valid JSON, so its line breaks are only between values.
  private static func line(_ push: Push) throws -> String {
    let delivery = Delivery(
      device: push.device, id: push.id.uuidString.lowercased(), type: push.type, acceptedMilliseconds: push.received,
      deliveredMilliseconds: push.delivered)
    let fields = String(decoding: try JSONEncoder().encode(delivery), as: UTF8.self).dropLast()
    let payload = String(decoding: push.payload, as: UTF8.self).replacing(/[\r\n]/, with: " ")
    return "\(fields),\"payload\":\(payload)}"
  }

  private static func write(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}
