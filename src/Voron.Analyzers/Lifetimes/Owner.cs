using Microsoft.CodeAnalysis;

namespace Voron.Analyzers.Lifetimes;

/// <summary>
/// A transaction, or the part of one that a method receives: identified by the call that began it, or by the parameter or field that holds it.
/// </summary>
/// <param name="Key">The syntax of the call, or the symbol of the parameter or field.</param>
/// <param name="IsBegunHere">Whether the analyzed function begins the transaction, or is the operation that it is made for.</param>
internal sealed record Owner(object Key, bool IsBegunHere)
{
    public static Owner BegunAt(SyntaxNode call) => new(call, true);

    /// <summary>A transaction that a method of the program returned, which may keep it for other uses.</summary>
    public static Owner Elsewhere(SyntaxNode call) => new(call, false);

    public static Owner Held(ISymbol root, bool isBegunHere = false) => new(root, isBegunHere);
}
