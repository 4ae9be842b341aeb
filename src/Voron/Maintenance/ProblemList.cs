namespace Voron.Maintenance;

/// <summary>The problems that a verification has found, as sentences: each once, and up to a limit.</summary>
internal sealed class ProblemList
{
    private const int MaxProblems = 1000;

    private readonly List<string> _problems = [];

    public IReadOnlyList<string> All => _problems;

    public void Add(string problem)
    {
        if (_problems.Count < MaxProblems && !_problems.Contains(problem))
            _problems.Add(problem);
    }
}
