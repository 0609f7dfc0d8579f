// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications) && canImport(Intents)
  import Foundation
  import Intents
  import UserNotifications

  extension UNNotificationContent {
    /// Returns a communication notification, which shows the sender's name and picture, if the hand-over has a sender.
    ///
    /// A summary stands for several senders, so it shows none of them. If iOS refuses the sender, this method returns
    /// the content unchanged. Do not change the returned content (Apple's header of `UNNotificationContent`).
    func withSender(of handOver: HandOver) -> UNNotificationContent {
      guard handOver.summary == nil, let sender = handOver.sender else { return self }
      let person = INPerson(
        personHandle: INPersonHandle(value: sender.name, type: .unknown), nameComponents: nil,
        displayName: sender.name,
        image: sender.picture.flatMap { try? Data(contentsOf: $0) }.map(INImage.init(imageData:)),
        contactIdentifier: nil, customIdentifier: nil)
      let intent = INSendMessageIntent(
        recipients: nil, outgoingMessageType: .outgoingMessageText, content: nil, speakableGroupName: nil,
        conversationIdentifier: threadIdentifier, serviceName: nil, sender: person, attachments: nil)
      // Apple's guide to communication notifications says to donate the interaction before the content is updated.
      let interaction = INInteraction(intent: intent, response: nil)
      interaction.direction = .incoming
      interaction.donate()
      return (try? updating(from: intent)) ?? self
    }
  }
#elseif canImport(UserNotifications)
  import UserNotifications

  extension UNNotificationContent {
    /// Returns the content unchanged, because this system has no communication notifications.
    func withSender(of handOver: HandOver) -> UNNotificationContent { self }
  }
#endif
