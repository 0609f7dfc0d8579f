// SPDX-License-Identifier: Apache-2.0

/// The memory for request bodies whose sender is not authenticated yet. A signature covers the body, so the body must
/// be read before the signature can be checked.
///
/// Anyone who knows a key's id, which is not secret, can make the service read a body. The bodies of unauthenticated
/// senders therefore have a small budget of their own, in total and for each key id. A body that has been arriving for
/// a long time is dropped when other bodies need its space.
///
/// A pure value; the caller passes the time.
public struct BodyBudget: Sendable {
  public struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of bodies in memory at the same time.
    public var bytes = 48 << 20
    /// The maximum number of bytes of bodies in memory for one key id. It is enough for a list of the largest size and
    /// some announcements.
    public var bytesOfOne = 20 << 20
    /// The maximum number of bodies that may be arriving at the same time.
    public var bodies = 4_096
    /// The maximum number of bodies that may be arriving for one key id.
    public var bodiesOfOne = 1_024
    /// The time after which a body may be dropped in favour of another one.
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
  /// The number of bytes that are held now.
  public private(set) var bytes = 0

  public init(_ limits: Limits = Limits()) { self.limits = limits }

  /// The number of bodies that are arriving now.
  public var count: Int { bodies.count }

  /// Registers a body that begins to arrive.
  ///
  /// - Returns: The body's ticket, nil when there is no space; and the tickets of the bodies that were dropped for it.
  public mutating func begin(_ keyID: String, at now: Duration) -> (ticket: Ticket?, dropped: [Ticket]) {
    let dropped = dropOldest(for: keyID, bytes: 0, bodies: 1, except: nil, at: now)
    guard fits(keyID, bytes: 0, bodies: 1) else { return (nil, dropped) }
    nextTicket += 1
    bodies[nextTicket] = Body(keyID: keyID, since: now)
    ofOne[keyID, default: Total()].bodies += 1
    return (nextTicket, dropped)
  }

  /// Registers more bytes of a body.
  ///
  /// - Returns: Whether the bytes may be held, which is false when the body itself was dropped; and the tickets of the
  ///   bodies that were dropped for it.
  public mutating func grow(_ ticket: Ticket, by count: Int, at now: Duration) -> (isHeld: Bool, dropped: [Ticket]) {
    guard let body = bodies[ticket] else { return (false, []) }
    let dropped = dropOldest(for: body.keyID, bytes: count, bodies: 0, except: ticket, at: now)
    guard fits(body.keyID, bytes: count, bodies: 0) else { return (false, dropped) }
    bytes += count
    bodies[ticket]?.bytes += count
    ofOne[body.keyID]?.bytes += count
    return (true, dropped)
  }

  /// Releases a body that is no longer held here.
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

  /// Drops as many of the oldest bodies as necessary, but only bodies that are older than `patience`.
  private mutating func dropOldest(
    for keyID: String, bytes more: Int, bodies moreBodies: Int, except own: Ticket?, at now: Duration
  ) -> [Ticket] {
    var dropped: [Ticket] = []
    while !fits(keyID, bytes: more, bodies: moreBodies) {
      // If the key id's own share is full, dropping the bodies of other ids would not help.
      let isOwnShare = !fitsOfOne(keyID, bytes: more, bodies: moreBodies)
      let old = bodies.filter { ticket, body in
        ticket != own && now - body.since >= limits.patience && (!isOwnShare || body.keyID == keyID)
      }
      guard let oldest = old.min(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) })?.key else { break }
      end(oldest)
      dropped.append(oldest)
    }
    return dropped
  }
}
