namespace Voron.Tables;

/// <summary>Counts the problems of a check, and keeps the first ones.</summary>
internal sealed class TableCheckProblems
{
    /// <summary>The maximum number of problems that are kept.</summary>
    public const int MaxKept = 1000;

    private readonly List<TableCheckProblem> _kept = [];

    public long Count { get; private set; }

    public IReadOnlyList<TableCheckProblem> Kept => _kept;

    public void Add(long rowId, string? index, long? other, string message)
    {
        Count++;
        if (_kept.Count < MaxKept)
            _kept.Add(new TableCheckProblem(rowId, index, other, message));
    }

    /// <summary>Adds a row that the codec or a function of the definition refuses.</summary>
    public void Add(long rowId, TableException refusal) => Add(rowId, (refusal as IndexKeyException)?.IndexName, null, refusal.Message);
}
