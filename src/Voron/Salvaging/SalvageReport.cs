using System.Globalization;
using Voron.Trees;

namespace Voron;

/// <summary>The report of a salvage, with the data found and the data missing: see <see cref="Salvage"/>.</summary>
public sealed partial record SalvageReport
{
    /// <summary>The path of the damaged environment.</summary>
    public required string Source { get; init; }

    /// <summary>The path of the new environment.</summary>
    public required string Target { get; init; }

    /// <summary>The transaction whose state was taken; 0 if nothing names it.</summary>
    public required long TransactionId { get; init; }

    /// <summary>When that transaction was committed; null if that is not recorded.</summary>
    public required DateTimeOffset? Time { get; init; }

    /// <summary>
    /// The source that identified that state, as a phrase: the header, the older slot of the header, a record of the journal, or the pages
    /// themselves.
    /// </summary>
    public required string Origin { get; init; }

    /// <summary>
    /// True if header, journal and data file belong to one moment, so that entries reachable from a root are <see cref="SalvageGrade.Proven"/>.
    /// </summary>
    public required bool IsProven { get; init; }

    /// <summary>
    /// False if the journal is missing or has a hole, so that commits after the state may be missing. Their number is unknown.
    /// </summary>
    public required bool IsJournalWhole { get; init; }

    /// <summary>The damage found, in the order of its discovery; at most 10,000 items.</summary>
    public required IReadOnlyList<SalvageDamage> Damage { get; init; }

    /// <summary>The total number of damage items, including those beyond the list.</summary>
    public required long DamageCount { get; init; }

    /// <summary>The number of trees that the catalog contained; null if that is unknown.</summary>
    public required long? ExpectedTrees { get; init; }

    /// <summary>The ranges of tree names whose catalog pages are lost.</summary>
    public required IReadOnlyList<LostRange> LostNames { get; init; }

    /// <summary>The trees of the new environment.</summary>
    public required IReadOnlyList<SalvagedTree> Trees { get; init; }

    /// <summary>The tables of the new environment, whose rows and indexes are among <see cref="Trees"/>.</summary>
    public IReadOnlyList<SalvagedTable> Tables { get; init; } = [];

    /// <summary>The time that the salvage took, including its verification.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>The number of entries in the new environment.</summary>
    public long Entries => Trees.Sum(tree => tree.Found);

    /// <summary>True if entries or trees of the old environment are missing, or may be.</summary>
    public bool HasLosses => !IsJournalWhole || Trees.Any(tree => tree.HasLosses) || Trees.Any(tree => tree is { Expected: null, Current: > 0 })
        || (ExpectedTrees is { } expected ? Trees.Count(tree => tree.Expected != null) < expected : LostNames.Count > 0);

    /// <summary>Writes the report as text.</summary>
    /// <param name="writer">The writer. Its exceptions pass through.</param>
    public void WriteText(TextWriter writer)
    {
        ArgumentNullException.ThrowIfNull(writer);
        writer.WriteLine($"Salvage of '{Source}' to '{Target}'");
        var time = Time is { } known ? string.Create(CultureInfo.InvariantCulture, $" of {known:yyyy-MM-dd HH:mm:ss} UTC") : "";
        var doubt = IsProven ? "proven" : "not proven to be of one moment";
        writer.WriteLine(string.Create(CultureInfo.InvariantCulture, $"State: transaction {TransactionId}{time}, named by {Origin}, {doubt}"));
        var expected = ExpectedTrees is { } trees ? string.Create(CultureInfo.InvariantCulture, $" (the catalog had {trees})") : "";
        writer.WriteLine(string.Create(CultureInfo.InvariantCulture, $"Found: {Entries} entries in {Trees.Count} trees{expected}"));
        foreach (var tree in Trees)
            WriteText(writer, tree);
        foreach (var table in Tables)
            writer.WriteLine($"  {table}");
        foreach (var range in LostNames)
            writer.WriteLine($"Lost names of trees: {Describe(range)}");
        writer.WriteLine(string.Create(CultureInfo.InvariantCulture, $"Damage: {DamageCount}"));
        foreach (var damage in Damage)
            writer.WriteLine($"  {damage.Message}");
        if (!IsJournalWhole)
            writer.WriteLine("The journal is not whole: commits after this state may be missing.");
        writer.WriteLine(HasLosses ? "Entries are missing, or may be." : "Nothing is missing.");
    }

    /// <inheritdoc/>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"transaction {TransactionId}: {Entries} entries in {Trees.Count} trees, {DamageCount} damages{(HasLosses ? ", with losses" : "")}");

    private static void WriteText(TextWriter writer, SalvagedTree tree)
    {
        var expected = tree.Expected is { } count ? string.Create(CultureInfo.InvariantCulture, $", of {count}") : "";
        var superseded = tree.Superseded > 0 ? string.Create(CultureInfo.InvariantCulture, $"; {tree.Superseded} superseded") : "";
        writer.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"  '{tree.Name}': {tree.Proven} proven, {tree.Current} current, {tree.Stale} stale{expected}{superseded}"));
        foreach (var range in tree.LostRanges)
            writer.WriteLine($"    lost keys {Describe(range)}");
        foreach (var value in tree.LostValues)
        {
            writer.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"    lost value of {KeyText.Of(value.Key)}, {value.Length} bytes: {value.Reason}"));
        }
    }

    private static string Describe(LostRange range)
    {
        var low = range.Low == null ? "the beginning" : KeyText.Of(range.Low);
        var high = range.High == null ? "the end" : $"before {KeyText.Of(range.High)}";
        return string.Create(CultureInfo.InvariantCulture, $"from {low} to {high}, {range.Found} found elsewhere: {range.Reason}");
    }
}
