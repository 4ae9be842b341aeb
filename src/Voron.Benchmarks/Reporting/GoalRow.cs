namespace Voron.Benchmarks.Reporting;

/// <summary>Rows of tables of figures with goals: what, figure, compared with, ratio, goal, verdict.</summary>
internal static class GoalRow
{
    /// <summary>A table of such rows.</summary>
    public static ReportTable TableOf(IEnumerable<string[]> rows) =>
        new("Figures", TextColumns: 1, ["what", "figure", "compared with", "ratio", "goal", "verdict"], [.. rows]);

    /// <summary>A figure that should be at least a part of another one.</summary>
    public static string[] AtLeast(string what, double figure, double other, double goal) =>
    [
        what, Figures.Decimal(figure), Figures.Decimal(other), Figures.Ratio(figure / other), $"at least {Figures.Ratio(goal)}",
        figure / other >= goal ? "met" : "missed",
    ];

    /// <summary>A figure without a goal, with another one.</summary>
    public static string[] Without(string what, double figure, double other) =>
        [what, Figures.Decimal(figure), Figures.Decimal(other), Figures.Ratio(figure / other), Figures.None, Figures.None];

    /// <summary>A figure that should be at most a multiple of another one or, where there is none, at most the goal.</summary>
    public static string[] AtMost(string what, double figure, double? other, double goal)
    {
        var ratio = other is { } compared ? figure / compared : figure;
        return
        [
            what, Figures.Decimal(figure), Figures.Decimal(other), other == null ? Figures.None : Figures.Ratio(ratio),
            $"at most {(other == null ? Figures.Count(goal) : Figures.Ratio(goal))}", ratio <= goal ? "met" : "missed",
        ];
    }
}
