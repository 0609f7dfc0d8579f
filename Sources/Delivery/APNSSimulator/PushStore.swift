// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The devices, the pushes on the way to them, and the record of accepted pushes.
final class PushStore: Sendable {
  /// A device and the pushes that are on the way to it.
  private struct Phone {
    var device: APNSSimulator.Device
    /// The newest push of each topic while the device is away, in the order of acceptance.
    var waiting: [Push] = []
    /// The push that changes places with the next one.
    var held: Push?
    var deliveries: [Push] = []
  }

  private struct State {
    var phones: [String: Phone] = [:]
    var record: AcceptedPushes
    var counts = Counts()
    var random: SeededRandom
    var acceptances = Listeners<Push>()
    var deliveries = Listeners<Push>()
    var refusals = Listeners<RefusedPush>()
  }

  private let configuration: APNSSimulator.Configuration
  private let isOpen: Bool
  private let state: Locked<State>

  init(_ configuration: APNSSimulator.Configuration) {
    self.configuration = configuration
    isOpen = configuration.devices == nil
    var state = State(
      record: AcceptedPushes(size: configuration.recordSize), random: SeededRandom(seed: configuration.seed))
    for device in configuration.devices ?? [] { state.phones[device.token] = Phone(device: device) }
    self.state = Locked(state)
  }

  // MARK: Requests

  /// Accepts a push, and delivers it if the device is connected.
  ///
  /// - Returns: The number of the push if it waits for the next one, with which it changes places; otherwise `nil`.
  func accept(_ request: CheckedRequest, payload: [UInt8], now: Int64) throws(Refusal) -> Int? {
    try state.withLock { state -> Result<Int?, Refusal> in
      guard let index = phone(request.device, in: &state) else { return .failure(Refusal(400, "BadDeviceToken")) }
      switch state.phones.values[index].device.state {
      case .active: break
      case .unregistered(let since): return .failure(Refusal(410, "Unregistered", timestamp: since))
      case .expired(let since): return .failure(Refusal(410, "ExpiredToken", timestamp: since))
      case .wrongEnvironment: return .failure(Refusal(400, "BadDeviceToken"))
      }
      if let topics = state.phones.values[index].device.topics, !topics.contains(request.topic) {
        return .failure(Refusal(400, "DeviceTokenNotForTopic"))
      }
      state.counts.accepted += 1
      // This is the string that the phone already has, so that all records of a device share one copy.
      let device = state.phones.values[index].device.token
      let push = Push(
        number: state.counts.accepted, id: request.id, device: device, topic: request.topic,
        type: request.type.rawValue, namesType: request.namesType, priority: request.priority,
        expiration: request.expiration,
        collapseID: request.collapseID, payload: payload, received: now)
      if !state.record.accept(push.id, device: device) { state.counts.duplicates += 1 }
      state.acceptances.send(push)
      return .success(send(push, to: index, in: &state, now: now))
    }.get()
  }

  private func phone(_ token: String, in state: inout State) -> Dictionary<String, Phone>.Index? {
    if let index = state.phones.index(forKey: token) { return index }
    guard isOpen else { return nil }
    state.phones[token] = Phone(device: APNSSimulator.Device(token))
    return state.phones.index(forKey: token)
  }

  private func send(
    _ push: Push, to index: Dictionary<String, Phone>.Index, in state: inout State, now: Int64
  ) -> Int? {
    if state.random.happens(configuration.dropRate) {
      state.counts.dropped += 1
      state.record.set(.dropped, of: push.id)
      return nil
    }
    guard state.phones.values[index].device.isOnline else {
      wait(push, at: index, in: &state)
      return nil
    }
    if let held = state.phones.values[index].held {
      state.phones.values[index].held = nil
      state.counts.reordered += 1
      deliver(push, to: index, in: &state, now: now)
      deliver(held, to: index, in: &state, now: now)
      return nil
    }
    if state.random.happens(configuration.reorderRate) {
      state.phones.values[index].held = push
      state.record.set(.held, of: push.id)
      return push.number
    }
    deliver(push, to: index, in: &state, now: now)
    return nil
  }

  /// Stores a push for a device that is away, in place of an older one of the same topic.
  private func wait(_ push: Push, at index: Dictionary<String, Phone>.Index, in state: inout State) {
    guard push.expiration != 0 else {
      state.record.set(.expired, of: push.id)
      return
    }
    if let older = state.phones.values[index].waiting.firstIndex(where: { $0.topic == push.topic }) {
      let replaced = state.phones.values[index].waiting.remove(at: older)
      state.record.set(.replaced, of: replaced.id)
    }
    state.phones.values[index].waiting.append(push)
    state.record.set(.waiting, of: push.id)
  }

  private func deliver(_ push: Push, to index: Dictionary<String, Phone>.Index, in state: inout State, now: Int64) {
    guard !push.isExpired(at: now) else {
      state.record.set(.expired, of: push.id)
      return
    }
    var push = push
    push.delivered = now
    state.counts.delivered += 1
    state.record.deliver(push.id)
    if configuration.remembersDeliveries { state.phones.values[index].deliveries.append(push) }
    state.deliveries.send(push)
  }

  /// Delivers a push that waits for the next one, if it still waits.
  ///
  /// - Parameter number: The number of the push. `nil` delivers any.
  func release(_ number: Int?, to token: String) {
    state.withLock { state in
      guard let index = state.phones.index(forKey: token), let held = state.phones.values[index].held,
        number == nil || held.number == number
      else { return }
      state.phones.values[index].held = nil
      deliver(held, to: index, in: &state, now: configuration.now())
    }
  }

  /// Delivers all pushes that are held back until the next push to the same device.
  func releaseAll() {
    for token in state.withLock({ Array($0.phones.keys) }) { release(nil, to: token) }
  }

  // MARK: Devices

  func device(_ token: String) -> APNSSimulator.Device? { state.withLock { $0.phones[token]?.device } }

  /// Adds a device, or changes a device that exists. A device that is back gets the pushes that wait for it.
  func set(_ device: APNSSimulator.Device) {
    state.withLock { state in
      state.phones[device.token, default: Phone(device: device)].device = device
      guard let index = state.phones.index(forKey: device.token) else { return }
      guard device.isOnline else {
        // A push that waits for the next one has not left yet, so it waits for the device instead.
        if let held = state.phones.values[index].held {
          state.phones.values[index].held = nil
          wait(held, at: index, in: &state)
        }
        return
      }
      let waiting = state.phones.values[index].waiting
      state.phones.values[index].waiting = []
      let now = configuration.now()
      for push in waiting { deliver(push, to: index, in: &state, now: now) }
    }
  }

  // MARK: Records

  func deliveries(to token: String) -> [Push] { state.withLock { $0.phones[token]?.deliveries ?? [] } }
  func entry(_ id: UUID) -> RecordedPush? { state.withLock { $0.record.entries[id] } }
  var record: [UUID: RecordedPush] { state.withLock { $0.record.entries } }
  var counts: Counts { state.withLock { $0.counts } }

  /// Changes the counters.
  ///
  /// - Returns: The closure's result.
  func count<Result>(_ change: (inout Counts) -> Result) -> Result { state.withLock { change(&$0.counts) } }

  func listenToAcceptances() -> AsyncStream<Push> { listen(\.acceptances) }
  func listenToDeliveries() -> AsyncStream<Push> { listen(\.deliveries) }
  func listenToRefusals() -> AsyncStream<RefusedPush> { listen(\.refusals) }

  /// Sends a refused push to all streams of refused pushes.
  func tell(_ refused: @autoclosure () -> RefusedPush) { state.withLock { $0.refusals.send(refused()) } }

  private func listen<Value>(
    _ path: any WritableKeyPath<State, Listeners<Value>> & Sendable
  ) -> AsyncStream<Value> {
    let (stream, continuation, number) = state.withLock { $0[keyPath: path].add() }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { $0[keyPath: path].remove(number) } }
    return stream
  }

  /// Ends all streams of pushes.
  func finish() {
    // The streams are ended without holding the lock, because a stream that ends takes the lock to remove itself.
    var (acceptances, deliveries, refusals) = state.withLock { state in
      defer { (state.acceptances, state.deliveries, state.refusals) = (Listeners(), Listeners(), Listeners()) }
      return (state.acceptances, state.deliveries, state.refusals)
    }
    acceptances.finish()
    deliveries.finish()
    refusals.finish()
  }
}
