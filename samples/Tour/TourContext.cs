using Tour.Data;
using Tour.Measuring;
using Tour.Output;

namespace Tour;

/// <summary>What all chapters share.</summary>
/// <param name="Data">What the stores are filled with.</param>
/// <param name="Workplace">Where they are.</param>
/// <param name="Contest">Measures them.</param>
/// <param name="Rates">The lines of the table at the end.</param>
/// <param name="Options">What the command line says.</param>
/// <param name="Stop">Cancels the tour.</param>
internal sealed record TourContext(
    DataSet Data, Workplace Workplace, Contest Contest, List<Rate> Rates, TourOptions Options, CancellationToken Stop)
{
    public required Screen Screen { get; init; }

    public required Checks Checks { get; init; }

    /// <summary>Measures Voron and SQLite, and adds a line to the table.</summary>
    public void Compare(string what, string unit, Contender voron, Contender sqlite)
    {
        var rates = Contest.Run(voron, sqlite);
        AddRate(what, unit, rates[0], rates[1]);
        Screen.Rate(voron.Name, rates[0], unit);
        Screen.Rate(sqlite.Name, rates[1], unit);
    }

    public void AddRate(string what, string unit, double voron, double sqlite) => Rates.Add(new(what, unit, voron, sqlite));
}
