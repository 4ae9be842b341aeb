namespace Voron.Benchmarks.Reporting;

/// <summary>A table of goals and verdicts. A goal whose figure was not measured has no verdict.</summary>
internal sealed class TableGoals
{
    private readonly List<string[]> _rows = [];

    public void AtLeast(string figure, double? measured, double goal) => Add(figure, measured, $"at least {Figures.Decimal(goal)}", measured >= goal);

    public void AtMost(string figure, double? measured, double goal) => Add(figure, measured, $"at most {Figures.Decimal(goal)}", measured <= goal);

    public ReportTable ToTable() => new("Goals", TextColumns: 1, ["figure", "measured", "goal", "verdict"], _rows);

    private void Add(string figure, double? measured, string goal, bool isMet) =>
        _rows.Add([figure, Figures.Decimal(measured), goal, measured == null ? Figures.None : isMet ? "met" : "missed"]);
}
