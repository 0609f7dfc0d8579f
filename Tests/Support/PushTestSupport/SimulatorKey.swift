// SPDX-License-Identifier: Apache-2.0

public import APNSSimulator

// The client has a type of this name too, so this file must not import it.

/// A key as the simulator knows it.
public typealias SimulatorKey = ProviderKey
