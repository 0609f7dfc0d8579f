// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import UIKit

// MARK: Views

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError() }
}

extension Optional: View where Wrapped: View {
  public var body: Never { fatalError() }
}

@resultBuilder public struct ViewBuilder {
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)>
  {
    fatalError()
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { fatalError() }
  public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> {
    fatalError()
  }
  public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> {
    fatalError()
  }
}

public struct TupleView<Content>: View {
  public var body: Never { fatalError() }
}

public struct _ConditionalContent<First: View, Second: View>: View {
  public var body: Never { fatalError() }
}

public struct Text: View {
  public init<Content: StringProtocol>(_ content: Content) { fatalError() }
  public var body: Never { fatalError() }
}

public struct Image: View {
  public init(systemName: String) { fatalError() }
  public var body: Never { fatalError() }
}

public struct Spacer: View {
  public init(minLength: CGFloat? = nil) { fatalError() }
  public var body: Never { fatalError() }
}

public struct HStack<Content: View>: View {
  public init(@ViewBuilder content: () -> Content) { fatalError() }
  public var body: Never { fatalError() }
}

public struct List<Content: View>: View {
  public init(@ViewBuilder content: () -> Content) { fatalError() }
  public var body: Never { fatalError() }
}

public struct Section<Content: View>: View {
  public init<Title: StringProtocol>(_ title: Title, @ViewBuilder content: () -> Content) { fatalError() }
  public var body: Never { fatalError() }
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
  public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {
    fatalError()
  }
  public var body: Never { fatalError() }
}

public struct Button<Label: View>: View {
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) { fatalError() }
  public var body: Never { fatalError() }
}

public struct NavigationStack<Content: View>: View {
  public init(@ViewBuilder root: () -> Content) { fatalError() }
  public var body: Never { fatalError() }
}

extension View {
  nonisolated public func navigationTitle<Title: StringProtocol>(_ title: Title) -> some View {
    Optional<Never>.none
  }
  nonisolated public func task(
    priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
  ) -> some View { Optional<Never>.none }
  nonisolated public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false, _ action: @escaping (_ oldValue: Value, _ newValue: Value) -> Void
  ) -> some View { Optional<Never>.none }
}

// MARK: State

@propertyWrapper public struct State<Value> {
  public init(wrappedValue: Value) { fatalError() }
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set { fatalError() }
  }
}

extension State where Value: ExpressibleByNilLiteral {
  public init() { fatalError() }
}

public struct EnvironmentValues {
  public var scenePhase: ScenePhase { fatalError() }
}

@propertyWrapper public struct Environment<Value> {
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
  public var wrappedValue: Value { fatalError() }
}

// MARK: The app

public enum ScenePhase: Comparable, Hashable, Sendable {
  case background, inactive, active
}

@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {}

@resultBuilder public struct SceneBuilder {
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { fatalError() }
}

public struct WindowGroup<Content: View>: Scene {
  public init(@ViewBuilder content: () -> Content) { fatalError() }
  public var body: Never { fatalError() }
}

extension Scene {
  nonisolated public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false, _ action: @escaping (_ oldValue: Value, _ newValue: Value) -> Void
  ) -> some Scene { fatalScene() }
  nonisolated public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some Scene { fatalScene() }
}

nonisolated private func fatalScene() -> Never { fatalError() }

@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
  @MainActor @preconcurrency init()
}

extension App {
  @MainActor @preconcurrency public static func main() { fatalError() }
}

@MainActor @propertyWrapper public struct UIApplicationDelegateAdaptor<Delegate: NSObject & UIApplicationDelegate> {
  public init(_ delegateType: Delegate.Type = Delegate.self) { fatalError() }
  public var wrappedValue: Delegate { fatalError() }
}
