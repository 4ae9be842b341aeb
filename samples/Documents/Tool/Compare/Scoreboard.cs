using System.Globalization;
using Spectre.Console;

namespace Voron.Documents.Tool.Compare;

/// <summary>The medians of all rounds, as ratios, and whether they meet the goals.</summary>
internal sealed class Scoreboard
{
    private readonly Table _table = new Table()
        .AddColumn("what").AddColumn(new TableColumn("Voron").RightAligned()).AddColumn("peer").AddColumn(new TableColumn("its").RightAligned())
        .AddColumn(new TableColumn("ratio").RightAligned()).AddColumn("goal").AddColumn("verdict");

    /// <summary>True if all goals are met.</summary>
    public bool IsMet { get; private set; } = true;

    /// <summary>Adds a measure of which more is better.</summary>
    public void AddRate(string what, IReadOnlyList<Measurement> ours, string peer, IReadOnlyList<Measurement> theirs, double? goal, string note = "")
    {
        var (mine, its) = (Median(ours, what), Median(theirs, what));
        Add(what + note, peer, mine, its, mine / its, goal is { } least ? ($"at least {Number(least)}", mine / its >= least) : null);
    }

    /// <summary>Adds a measure of which less is better.</summary>
    public void AddTime(string what, IReadOnlyList<Measurement> ours, string peer, IReadOnlyList<Measurement> theirs, double goal)
    {
        var (mine, its) = (Median(ours, what), Median(theirs, what));
        Add(what, peer, mine, its, its / mine, ($"at least {Number(goal)} times faster", its / mine >= goal));
    }

    /// <summary>Adds a size.</summary>
    public void AddSize(string what, IReadOnlyList<Measurement> ours, string peer, IReadOnlyList<Measurement> theirs, double goal, string note = "")
    {
        var (mine, its) = (Median(ours, what), Median(theirs, what));
        Add(what + note, peer, mine, its, mine / its, ($"at most {Number(goal)}", mine / its <= goal));
    }

    public void Write(IAnsiConsole console) => console.Write(_table);

    private static double Median(IReadOnlyList<Measurement> rounds, string what)
    {
        var values = rounds.Select(round => round[what]).Order().ToList();
        return values[values.Count / 2];
    }

    private static string Number(double value) => value.ToString(value >= 100 ? "N0" : "0.##", CultureInfo.InvariantCulture);

    private void Add(string what, string peer, double mine, double its, double ratio, (string Text, bool IsMet)? goal)
    {
        IsMet &= goal?.IsMet ?? true;
        var verdict = goal is { } wanted ? wanted.IsMet ? "met" : "missed" : "";
        _table.AddRow(what, Number(mine), peer, Number(its), Number(ratio), goal?.Text ?? "", verdict);
    }
}
