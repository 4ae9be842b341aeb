namespace Voron.Tidy.Tests;

/// <summary>Code of one file that uses types of another.</summary>
/// <param name="From">The file whose code it is.</param>
/// <param name="To">The file that declares what is used.</param>
/// <param name="Symbols">The types and members used.</param>
internal sealed record SourceReference(string From, string To, IReadOnlyList<string> Symbols)
{
    private const int MaxSymbols = 12;

    public override string ToString()
    {
        var more = Symbols.Count > MaxSymbols ? $", and {Symbols.Count - MaxSymbols} more" : "";
        return $"{From} -> {To}: {string.Join(", ", Symbols.Take(MaxSymbols))}{more}";
    }
}
