// SPDX-License-Identifier: Apache-2.0

public import PushDelivery

// The simulator has a type of this name too, so this file must not import it.

/// A key as the client knows it.
public typealias ClientKey = ProviderKey
