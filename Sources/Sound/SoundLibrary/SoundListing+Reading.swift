// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

extension SoundPlaces {
  /// Lists the folders of all places, in the order of the search.
  ///
  /// As with publishing, links in place of `Library` or `Sounds` are refused. Each listed file is opened once to check
  /// that it can be read. The call blocks the thread.
  ///
  /// - Parameter isWanted: Returns whether an entry is listed. A caller that needs only a few names saves the time for
  ///   the other files.
  /// - Returns: A listing for each place. It has no entries if the folder does not exist.
  /// - Throws: ``SoundLibraryError`` if a folder cannot be listed. Without the entries of one folder, the answer could
  ///   differ from what a phone plays.
  public func listings(
    of isWanted: (_ name: String) -> Bool = { _ in true }
  ) throws(SoundLibraryError) -> [SoundListing] {
    try listings(of: isWanted, calls: .system)
  }

  func listings(
    of isWanted: (_ name: String) -> Bool = { _ in true }, calls: FileSystemCalls
  ) throws(SoundLibraryError) -> [SoundListing] {
    var listings: [SoundListing] = []
    let containers =
      (appContainer.map { [(SoundPlace.appContainer, GroupContainer(directory: $0))] } ?? [])
      + groupContainers.map { (.groupContainer($0.name), $0.container) }
    for (place, container) in containers {
      listings.append(
        try Self.listing(place, container.soundsDirectory, of: isWanted, calls: calls) { () throws(SystemError) in
          try SoundsFolder(of: container, calls: calls)
        })
    }
    if let bundle {
      listings.append(
        try Self.listing(.bundle, bundle, of: isWanted, calls: calls) { () throws(SystemError) in
          try SoundsFolder(at: bundle, calls: calls)
        })
    }
    return listings
  }

  private static func listing(
    _ place: SoundPlace, _ url: URL, of isWanted: (String) -> Bool, calls: FileSystemCalls,
    open: () throws(SystemError) -> SoundsFolder
  ) throws(SoundLibraryError) -> SoundListing {
    var listing = SoundListing(place: place, folder: url, entries: [])
    let sounds: SoundsFolder
    do throws(SystemError) {
      sounds = try open()
    } catch {
      if error.kind == .missing { return listing }
      throw SoundLibraryError(error, while: .reading, in: url)
    }
    let names = try SoundsFolder.names(in: url, calls: calls).filter(isWanted).sorted { $0.precedesInBytes($1) }
    do throws(SystemError) {
      for name in names {
        if let kind = try sounds.kind(of: name) { listing.entries.append(SoundListing.Entry(name: name, kind: kind)) }
      }
    } catch {
      throw SoundLibraryError(error, while: .reading, in: url)
    }
    return listing
  }
}

extension SoundsFolder {
  /// Opens a folder of sounds, such as a bundle's, by its path.
  init(at url: URL, calls: FileSystemCalls) throws(SystemError) {
    folder = try OpenDescriptor.folder(url, calls: calls)
    self.calls = calls
  }

  /// Returns the names of all entries, in no order; an empty array if the folder does not exist.
  ///
  /// - Throws: ``SoundLibraryError``.
  static func names(in folder: URL, calls: FileSystemCalls) throws(SoundLibraryError) -> [String] {
    do throws(SystemError) {
      return try calls.names(folder.path(percentEncoded: false))
    } catch {
      if error.kind == .missing { return [] }
      let code: SoundLibraryError.Code = error.kind == .notPermitted ? .notPermitted : .systemFailure
      throw SoundLibraryError(code: code, action: .reading, folder: folder)
    }
  }

  /// Returns the type of an entry; nil if the entry was removed since the folder was listed.
  func kind(of name: String) throws(SystemError) -> SoundListing.Kind? {
    do throws(SystemError) {
      let status = try calls.statusOfName(folder.number, name)
      guard status.isRegularFile else { return kindOfOther(name) }
      guard status.byteCount > 0 else { return .emptyFile }
    } catch {
      if error.kind == .missing { return nil }
      throw error
    }
    do throws(SystemError) {
      _ = try openFile(name)
      return .file
    } catch {
      if error.kind == .missing { return nil }
      // If this error were not thrown, a shortage of descriptors in this process would look like a fault of the file.
      if error.kind == .tooManyOpenFiles { throw error }
      return .unreadableFile
    }
  }

  /// Returns the type of an entry that is not a regular file.
  private func kindOfOther(_ name: String) -> SoundListing.Kind {
    do throws(SystemError) {
      _ = try OpenDescriptor.folder(name, in: folder, calls: calls)
      return .folder
    } catch {
      // A folder cannot be opened through a symbolic link; the error is the same as for a pipe.
    }
    do throws(SystemError) {
      _ = try OpenDescriptor(calls.openFile(folder.number, name), calls: calls)
      return .special
    } catch {
      return error.isRefusedLink ? .symbolicLink : .special
    }
  }
}
