// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import UserNotifications

public enum INPersonHandleType: Int, Sendable {
  case unknown, emailAddress, phoneNumber
}

public struct INPersonHandleLabel: Hashable, RawRepresentable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { fatalError() }
}

open class INPersonHandle: NSObject {
  public convenience init(value: String?, type: INPersonHandleType) { fatalError() }
  public init(value: String?, type: INPersonHandleType, label: INPersonHandleLabel?) { fatalError() }
}

open class INImage: NSObject {
  public convenience init(named name: String) { fatalError() }
  public convenience init(imageData: Data) { fatalError() }
  public convenience init?(url: URL) { fatalError() }
}

open class INPerson: NSObject {
  public init(
    personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
    contactIdentifier: String?, customIdentifier: String?
  ) { fatalError() }
}

open class INSpeakableString: NSObject {}
open class INSendMessageAttachment: NSObject {}
open class INIntent: NSObject {}
open class INIntentResponse: NSObject {}

public enum INOutgoingMessageType: Int, Sendable {
  case unknown, outgoingMessageText, outgoingMessageAudio
}

open class INSendMessageIntent: INIntent, UNNotificationContentProviding {
  public init(
    recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
    speakableGroupName: INSpeakableString?, conversationIdentifier: String?, serviceName: String?, sender: INPerson?,
    attachments: [INSendMessageAttachment]?
  ) { fatalError() }
}

public enum INInteractionDirection: Int, Sendable {
  case unspecified, outgoing, incoming
}

open class INInteraction: NSObject {
  open var direction: INInteractionDirection
  public init(intent: INIntent, response: INIntentResponse?) { fatalError() }
  open func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) { fatalError() }
}
