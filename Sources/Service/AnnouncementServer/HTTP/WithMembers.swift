// SPDX-License-Identifier: Apache-2.0

/// An object with further members, such as a key that no other answer has.
struct WithMembers<Object: Encodable, Members: Encodable>: Encodable {
  var object: Object
  /// An object with the further members. It has no key in common with ``object``.
  var members: Members

  func encode(to encoder: any Encoder) throws {
    try object.encode(to: encoder)
    try members.encode(to: encoder)
  }
}
