// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PostgreSQL

@Suite("The binary format of values")
struct BinaryFormatTests {
  @Test("an array is written as PostgreSQL's sources describe it")
  func array() throws {
    let values = try EncodedValues([.int64s([1, nil])])
    let place = try #require(values.places[0])
    #expect(
      Array(values.bytes[place]) == [
        0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255,
        255,
      ])
  }

  @Test("an encoded NULL has no range of bytes, and an encoded empty value has an empty range")
  func null() throws {
    let values = try EncodedValues(
      [nil, .int64(nil), .string(nil), .bytes(nil), .bool(nil), .string(""), .bytes(Data())])
    #expect(values.places.map { $0?.count } == [nil, nil, nil, nil, nil, 0, 0])
    #expect(values.types == [0, 20, 25, 17, 16, 25, 17])
  }

  @Test("a text with a NUL is refused, also in an array", arguments: [["a\0"], ["\0"], ["a", "b\0c"]])
  func nul(texts: [String]) async {
    for value in [PostgreSQLValue.strings(texts.map(Optional.some)), .string(texts.joined())] {
      let failure = await failure { () throws(PostgreSQLError) in try EncodedValues([.int64(7), value]) }
      #expect(failure?.code == .invalidParameter)
      #expect(failure?.description.contains("parameter 2") == true)
    }
  }

  @Test("more parameters than the protocol allows are refused")
  func count() async throws {
    let most = Array(repeating: PostgreSQLValue.bool(true), count: EncodedValues.mostValues)
    #expect(try EncodedValues(most).places.count == EncodedValues.mostValues)
    #expect(await failure { () throws(PostgreSQLError) in try EncodedValues(most + [nil]) }?.code == .invalidParameter)
  }

  @Test(
    "an array with a wrong length, more than one dimension, or bytes after its end is refused",
    arguments: [
      [], [0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 1],
      [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1],
      [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 127, 255, 255, 255, 0, 0, 0, 1],
      [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 255, 255, 255, 255, 0, 0, 0, 1],
      [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 1],
      [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 255, 255, 255, 254],
      [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7, 7],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    #expect(BinaryArray.elements(bytes) == nil)
  }

  @Test("a number is read with its sign, and only from exactly the bytes of its type")
  func numbers() {
    #expect(Int64.value(of: [255, 255, 255, 255, 255, 255, 255, 254], type: 20) == -2)
    #expect(Int64.value(of: [255, 254], type: 21) == -2)
    #expect(Int64.value(of: [255, 255, 255, 254], type: 23) == -2)
    #expect(Int64.value(of: [255, 255, 255, 254], type: 26) == 4_294_967_294)
    #expect(Int64.value(of: [127, 255, 255, 255, 255, 255, 255, 255], type: 20) == .max)
    #expect(Int64.value(of: [128, 0, 0, 0, 0, 0, 0, 0], type: 20) == .min)
    #expect(Int64.value(of: [128, 0, 0, 0, 0, 0, 0, 0], type: 5069) == nil)
    #expect(Int64.value(of: [1, 2, 3], type: 20) == nil)
    #expect(Int64.value(of: [], type: 21) == nil)
  }

  @Test("a text that is not UTF-8, and a truth value that is not a byte 0 or 1, are refused")
  func texts() {
    #expect(String.value(of: [0xff], type: 25) == nil)
    #expect(String.value(of: [0xe2, 0x82, 0xac], type: 25) == "€")
    #expect(Bool.value(of: [2], type: 16) == nil)
    #expect(Bool.value(of: [], type: 16) == nil)
  }
}
