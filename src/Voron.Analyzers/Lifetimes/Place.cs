using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;

namespace Voron.Analyzers.Lifetimes;

/// <summary>A variable: a local, a parameter, a field of the object, a temporary value of the control flow graph, or the value returned.</summary>
internal readonly struct Place : IEquatable<Place>
{
    private static readonly object ReturnKey = new();

    private readonly object _key;

    private Place(object key) => _key = key;

    /// <summary>The value that the function returns.</summary>
    public static Place Returned => new(ReturnKey);

    public ISymbol? Symbol => _key as ISymbol;

    public bool IsReturned => ReferenceEquals(_key, ReturnKey);

    /// <summary>Whether other methods can reach it: it is a field or a property.</summary>
    public bool IsMember => _key is IFieldSymbol or IPropertySymbol;

    public static Place Of(ISymbol symbol) => new(symbol);

    public static Place Of(CaptureId capture) => new(capture);

    public bool Equals(Place other) =>
        Symbol is { } symbol ? SymbolEqualityComparer.Default.Equals(symbol, other.Symbol) : Equals(_key, other._key);

    public override bool Equals(object? obj) => obj is Place other && Equals(other);

    public override int GetHashCode() => Symbol is { } symbol ? SymbolEqualityComparer.Default.GetHashCode(symbol) : _key.GetHashCode();
}
