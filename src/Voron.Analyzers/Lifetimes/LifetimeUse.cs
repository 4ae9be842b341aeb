using Microsoft.CodeAnalysis;

namespace Voron.Analyzers.Lifetimes;

/// <summary>A value that is used, returned or kept though its transaction has ended, or has written.</summary>
/// <param name="Syntax">The place to report.</param>
/// <param name="Name">The variable or expression, as the source has it.</param>
/// <param name="Value">The value, with the reason.</param>
/// <param name="Escape">How it leaves the scope of its transaction; null if it is used inside the function.</param>
internal sealed record LifetimeUse(SyntaxNode Syntax, string Name, LifetimeValue Value, LifetimeEscape? Escape);

/// <summary>How a value leaves the scope of its transaction.</summary>
internal enum LifetimeEscape
{
    Returned,
    AssignedToParameter,
    Kept,
}
