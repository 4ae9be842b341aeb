using System.Text.RegularExpressions;
using Voron.Simulation.Harness;

namespace Voron.Torture.Crashes;

/// <summary>Counts the events and images of a run of crash tests.</summary>
internal sealed partial class CrashCounts
{
    public int Runs;
    public int Commits;
    public int Flushes;
    public int JournalSnapshots;
    public int Reclaimed;
    public int Upgrades;
    public int FixedTreeCommits;
    public int IdTreeCommits;
    public int ValueSetCommits;
    public int TableCommits;
    public int FeedsCut;
    public int DictionariesTrained;
    public int Drops;
    public int DropsResumed;
    public int Loads;
    public int LoadsRefused;
    public int Cuts;
    public int CutsInEveryCombination;
    public int CutsInManyCombinations;
    public int CutsWithoutBudgetForCombinations;
    public int AcknowledgedWithinPipelines;
    public int UnchangedCommits;
    public int LazyCommits;
    public int Pairs;
    public int Images;
    public int Lost;
    public int Kept;
    public int Mixed;
    public int Combinations;
    public int Killed;
    public int ReadOnly;
    public int WorkedOn;
    public int SecondCuts;
    public int ThirdCuts;
    public int FourthCuts;
    public int CutsWhileOpening;
    public int WithGarbage;
    public int GarbageSectors;
    public int GarbageInUse;
    public int Refused;

    /// <summary>Adds all counts to the ledger.</summary>
    public void AddTo(SuiteRun run)
    {
        run.Count(Images);
        foreach (var field in typeof(CrashCounts).GetFields().Where(field => field.Name is not (nameof(Images) or nameof(Runs))))
            run.Tally(Words().Replace(field.Name, " $0").Trim().ToLowerInvariant(), (int)field.GetValue(this)!);
    }

    [GeneratedRegex("[A-Z]")]
    private static partial Regex Words();
}
