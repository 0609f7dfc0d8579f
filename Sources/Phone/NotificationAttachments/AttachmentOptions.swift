// SPDX-License-Identifier: Apache-2.0

/// The options for an attachment's thumbnail.
public struct AttachmentOptions: Sendable, Hashable {
  /// A part of an image, in fractions of its width and height from 0 to 1. The origin is that of Apple's
  /// `UNNotificationAttachmentOptionsThumbnailClippingRectKey`.
  public struct ClippingRectangle: Sendable, Hashable {
    public let x: Double
    public let y: Double
    public let width: Double
    public let height: Double

    /// Returns nil if the rectangle is empty or not within the image.
    public init?(x: Double, y: Double, width: Double, height: Double) {
      // The sums of decimal fractions such as 0.7 + 0.3 may be a little more than 1.
      let end = 1 + 1e-9
      guard x >= 0, y >= 0, width > 0, height > 0, x + width <= end, y + height <= end else { return nil }
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
  }

  /// Whether the notification has no thumbnail; false by default.
  public var hidesThumbnail: Bool

  /// The part of a movie or of an animated image that the thumbnail shows: a time in seconds, or the number of a frame;
  /// nil for the system's choice.
  public var thumbnailTime: Double?

  /// The part of the image that is the thumbnail; nil for the system's choice.
  public var thumbnailClipping: ClippingRectangle?

  public init(
    hidesThumbnail: Bool = false, thumbnailTime: Double? = nil, thumbnailClipping: ClippingRectangle? = nil
  ) {
    self.hidesThumbnail = hidesThumbnail
    self.thumbnailTime = thumbnailTime
    self.thumbnailClipping = thumbnailClipping
  }
}
