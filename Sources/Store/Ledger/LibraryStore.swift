// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The changes of the sound library, and the devices that follow them. Each call is one whole transaction.
  public protocol LibraryStore: Sendable {
    /// Returns the containers that the extension of a device shows now, in the order of their registration.
    ///
    /// - Returns: nil when the account has no such device.
    func enumerators(account: String, device: String) async throws(LedgerError) -> [Enumerator]?

    /// Records that the extension of a device shows a container. The record is durable when the call returns.
    ///
    /// - Parameter container: The identifier of the container, 1 to 1,024 bytes.
    /// - Returns: nil when the account has no such device.
    /// - Throws: ``LedgerError`` with `invalidValue`, `tooManyEnumerators`, `diskFull`, `busy` or a file error. Nothing
    ///   was changed then.
    func addEnumerator(of container: String, account: String, device: String) async throws(LedgerError) -> Enumerator?

    /// Records that the extension of a device no longer shows a container.
    ///
    /// - Returns: Whether the container was recorded before.
    @discardableResult
    func removeEnumerator(of container: String, account: String, device: String) async throws(LedgerError) -> Bool

    /// Returns the changes of the libraries after a position; nil if there are none.
    ///
    /// - Parameter position: The position up to which changes are known; nil for the position that
    ///   ``noteLibraryPushed(upTo:under:)`` recorded.
    func libraryNews(after position: Int64?) async throws(LedgerError) -> LibraryNews?

    /// Records the position up to which pushes were made for the changes of the libraries.
    ///
    /// - Parameter seat: The seat of the sender of pushes; nil only if no other sender can exist.
    /// - Throws: ``LedgerError`` with `leaseLost` if the sender has lost its seat. Nothing was changed then.
    func noteLibraryPushed(upTo position: Int64, under seat: DeliverySeat?) async throws(LedgerError)

    /// Returns the devices that have a token, in the order of their accounts and ids, beginning after a device.
    ///
    /// - Parameters:
    ///   - only: The account whose devices are returned; nil for the devices of all accounts.
    ///   - limit: The maximum number of devices, 1 to 1,000.
    func libraryDevices(
      account only: String?, after last: LibraryDevice?, limit: Int
    ) async throws(LedgerError) -> [LibraryDevice]

    /// Returns one of the devices of ``libraryDevices(account:after:limit:)``; nil if it was removed or has no token.
    func libraryDevice(account: String, id: String) async throws(LedgerError) -> LibraryDevice?

    /// Records that a clip is no longer in the folder of an app group, for all accounts.
    ///
    /// - Returns: Whether the library had the clip.
    @discardableResult
    func removeFromLibrary(clip name: String, group: String) async throws(LedgerError) -> Bool

    /// Records which voice packs are installed. Packs that are not among them are removed.
    ///
    /// - Parameters:
    ///   - packs: The packs that can be used.
    ///   - broken: The ids of packs that are broken now. Their records do not change, because a pack looks broken while
    ///     it is being copied.
    /// - Returns: Whether anything has changed.
    @discardableResult
    func setLibraryPacks(_ packs: [LibraryPack], broken: Set<String>) async throws(LedgerError) -> Bool

    /// Records which tones the app groups have. Tones that are not among them are removed.
    ///
    /// - Parameters:
    ///   - tones: The tones of all groups, each name once in a group.
    ///   - unreadable: The groups whose folders could not be read. The records of their tones do not change.
    /// - Returns: Whether anything has changed.
    @discardableResult
    func setLibraryTones(_ tones: [LibrarySound], unreadable: Set<String>) async throws(LedgerError) -> Bool

    /// Returns the changes of the library of an account and an app group after an anchor, oldest first.
    ///
    /// Without an anchor, the call returns the first page of a list of everything that is in the library now. Each name
    /// occurs once, with its latest change. A name that changes while the pages are read may occur again.
    ///
    /// - Parameter limit: The maximum number of changes, 1 to 1,000.
    /// - Returns: nil if the anchor has expired, or belongs to another feed, account or group. The reader then lists
    ///   everything again.
    func libraryChanges(
      account: String, group: String, after anchor: LibraryAnchor?, limit: Int
    ) async throws(LedgerError) -> LibraryPage?

    /// Returns the name of a clip of an account with a digest, in the library of an app group; nil if there is none.
    ///
    /// - Parameter sha256: 64 hexadecimal digits in lower case.
    func libraryClip(sha256: String, account: String, group: String) async throws(LedgerError) -> String?

    /// Returns the name of a tone of an app group with a digest; nil if there is none.
    ///
    /// - Parameter sha256: 64 hexadecimal digits in lower case.
    func libraryTone(sha256: String, group: String) async throws(LedgerError) -> String?

    /// Returns the clips of the libraries of all accounts after a position, in the order of their positions, so that
    /// they can be compared with the folders.
    ///
    /// - Parameter limit: The maximum number of clips, 1 to 10,000.
    func libraryClips(after position: Int64, limit: Int) async throws(LedgerError) -> [(
      position: Int64, clip: PublishedClip
    )]
  }
}
