// SPDX-License-Identifier: Apache-2.0

/// The memory for bodies whose sender is not proven yet: a signature covers the body, so that the body comes first.
///
/// Whoever knows a key's id, which is no secret, can have a body read. So these bodies have a small budget of their own,
/// in all and for each id. A body that has been coming for long makes room for others.
///
/// A pure value, with the time passed in.
public struct BodyBudget: Sendable {
  public struct Limits: Sendable, Hashable {
    /// In memory at once, in bytes.
    public var bytes = 48 << 20
    /// And of those, for one key's id: a list of the largest size, and some announcements.
    public var bytesOfOne = 20 << 20
    /// Bodies that are coming at once.
    public var bodies = 4_096
    public var bodiesOfOne = 1_024
    /// After so long a body gives way to another one.
    public var patience: Duration = .seconds(5)

    public init() {}
  }

  public typealias Ticket = Int

  private struct Body {
    var keyID: String
    var bytes = 0
    var since: Duration
  }

  private struct Total {
    var bytes = 0
    var bodies = 0
  }

  private let limits: Limits
  private var nextTicket = 0
  private var bodies: [Ticket: Body] = [:]
  private var ofOne: [String: Total] = [:]
  /// Held at this moment, in bytes.
  public private(set) var bytes = 0

  public init(_ limits: Limits = Limits()) { self.limits = limits }

  /// Bodies that are coming at this moment.
  public var count: Int { bodies.count }

  /// A body begins to come.
  ///
  /// - Returns: its ticket, nil when there is no room; and the tickets of those that give way to it.
  public mutating func begin(_ keyID: String, at now: Duration) -> (ticket: Ticket?, gaveWay: [Ticket]) {
    let gaveWay = makeRoom(for: keyID, bytes: 0, bodies: 1, except: nil, at: now)
    guard fits(keyID, bytes: 0, bodies: 1) else { return (nil, gaveWay) }
    nextTicket += 1
    bodies[nextTicket] = Body(keyID: keyID, since: now)
    ofOne[keyID, default: Total()].bodies += 1
    return (nextTicket, gaveWay)
  }

  /// More of a body came.
  ///
  /// - Returns: whether it may be held, which it may not when the body gave way itself; and the tickets of those that give
  ///   way to it.
  public mutating func grow(_ ticket: Ticket, by count: Int, at now: Duration) -> (isHeld: Bool, gaveWay: [Ticket]) {
    guard let body = bodies[ticket] else { return (false, []) }
    let gaveWay = makeRoom(for: body.keyID, bytes: count, bodies: 0, except: ticket, at: now)
    guard fits(body.keyID, bytes: count, bodies: 0) else { return (false, gaveWay) }
    bytes += count
    bodies[ticket]?.bytes += count
    ofOne[body.keyID]?.bytes += count
    return (true, gaveWay)
  }

  /// A body is not held here any more.
  public mutating func end(_ ticket: Ticket) {
    guard let body = bodies.removeValue(forKey: ticket) else { return }
    bytes -= body.bytes
    ofOne[body.keyID]?.bytes -= body.bytes
    ofOne[body.keyID]?.bodies -= 1
    if ofOne[body.keyID]?.bodies == 0 { ofOne[body.keyID] = nil }
  }

  private func fits(_ keyID: String, bytes more: Int, bodies moreBodies: Int) -> Bool {
    fitsOfOne(keyID, bytes: more, bodies: moreBodies) && bytes + more <= limits.bytes
      && bodies.count + moreBodies <= limits.bodies
  }

  private func fitsOfOne(_ keyID: String, bytes more: Int, bodies moreBodies: Int) -> Bool {
    let total = ofOne[keyID] ?? Total()
    return total.bytes + more <= limits.bytesOfOne && total.bodies + moreBodies <= limits.bodiesOfOne
  }

  /// Ends the oldest bodies, as far as that is needed and they are old enough.
  private mutating func makeRoom(
    for keyID: String, bytes more: Int, bodies moreBodies: Int, except own: Ticket?, at now: Duration
  ) -> [Ticket] {
    var gone: [Ticket] = []
    while !fits(keyID, bytes: more, bodies: moreBodies) {
      // Where the id's own share is full, the others' have nothing to do with it.
      let isOwnShare = !fitsOfOne(keyID, bytes: more, bodies: moreBodies)
      let old = bodies.filter { ticket, body in
        ticket != own && now - body.since >= limits.patience && (!isOwnShare || body.keyID == keyID)
      }
      guard let oldest = old.min(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) })?.key else { break }
      end(oldest)
      gone.append(oldest)
    }
    return gone
  }
}
