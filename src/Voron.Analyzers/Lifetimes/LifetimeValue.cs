using Microsoft.CodeAnalysis;

namespace Voron.Analyzers.Lifetimes;

/// <summary>A transaction, handle or span that a variable may hold.</summary>
/// <param name="Owner">Its transaction.</param>
/// <param name="Kind">What it is.</param>
/// <param name="Origin">The call, property or argument that it came from; null if it existed at the start.</param>
/// <param name="Status">Whether it may be used.</param>
/// <param name="EndedBy">The call that made it unusable.</param>
internal sealed record LifetimeValue(Owner Owner, LifetimeKind Kind, SyntaxNode? Origin, LifetimeStatus Status, SyntaxNode? EndedBy)
{
    public bool IsValid => Status == LifetimeStatus.Valid;

    /// <summary>Whether it is a span at the position of a cursor, which ends when the cursor moves.</summary>
    public bool IsAtCursor { get; init; }

    /// <summary>The <see cref="Origin"/> of that cursor.</summary>
    public SyntaxNode? CursorOrigin { get; init; }

    public static LifetimeValue Of(Owner owner, LifetimeKind kind, SyntaxNode? origin) => new(owner, kind, origin, LifetimeStatus.Valid, null);

    /// <summary>Returns the same value, which may no longer be used. The first reason stays.</summary>
    public LifetimeValue End(LifetimeStatus status, SyntaxNode by) => IsValid ? this with { Status = status, EndedBy = by } : this;
}
