// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import Testing

@Suite("JSON pointers")
struct JSONPointerTests {
  private func value(_ pointer: String, _ json: String) throws -> String? {
    let fields = try #require(JSONFields(Data(json.utf8)))
    return try #require(JSONPointer(pointer)).value(in: fields)?.characters
  }

  @Test("a JSON pointer leads through objects and arrays to its value")
  func paths() throws {
    #expect(try value("/a/1/b", #"{"a":[{},{"b":12.50}]}"#) == "12.50")
    #expect(try value("/a~1b/c~0d", #"{"a/b":{"c~d":"x"}}"#) == "x")
    #expect(try value("/~01", #"{"~1":"x"}"#) == "x")
    #expect(try value("/", #"{"":"x"}"#) == "x")
    #expect(try value("", #""x""#) == "x")
    #expect(try value("/0", #"{"0":"x"}"#) == "x")
  }

  @Test(
    "a JSON pointer to a missing value or to null gives nil",
    arguments: ["/b", "/a/2", "/a/-1", "/a/01", "/a/+1", "/a/x", "/a/0/b", "/n", "/n/x", "/a/99999999999999999999"])
  func nothing(pointer: String) throws {
    #expect(try value(pointer, #"{"a":["x","y"],"n":null}"#) == nil)
  }

  @Test(
    "a text that does not follow the syntax of JSON pointers is refused",
    arguments: ["a", "a/b", "#/a", "/a~", "/a~2", "/~/b"])
  func malformed(text: String) { #expect(JSONPointer(text) == nil) }
}
