using Voron.Simulation.Harness;

namespace Voron.Torture.Suites;

/// <summary>All suites, in the order in which they are run.</summary>
internal static class SuiteCatalog
{
    public static IReadOnlyList<Suite> All { get; } =
    [
        new PowerCutSuite(),
        new KillThenCutSuite(),
        new RecoveryCutSuite(),
        new UpgradeCutSuite(),
        new LoadCutSuite(),
        new CopiesSuite(),
        new ChangesSuite(),
        new BackupModelSuite(),
        new BackupCutSuite(),
        new BackupSetSuite(),
        new CompactionSuite(),
        new SalvageDamageSuite(),
        new IoFaultSuite(),
        new DiskFullSuite(),
        new ModelSuite(),
        new IndexAgreementSuite(),
        new EvolveSuite(),
        new FeedSuite(),
        new BitRotSuite(),
        new MalformedSuite(),
        new EquivalenceSuite(),
        new BoundarySuite(),
        new GreatestValueSuite(),
        new SchedulesSuite(),
        new IsolationSuite(),
        new LongReaderSuite(),
        new KillSuite(),
        new MemoryFaultSuite(),
        new LifetimesSuite(),
        new StagingSuite(),
        new SortSuite(),
        new SurroundingsSuite(),
        new OptionsSuite(),
        new SlowIoSuite(),
        new CallbacksSuite(),
        new BoundsSuite(),
        new ScaleSuite(),
    ];

    /// <exception cref="TortureException">There is no such suite.</exception>
    public static Suite Find(string name) =>
        All.FirstOrDefault(suite => suite.Name == name)
        ?? throw new TortureException($"There is no suite '{name}'. There are: {string.Join(", ", All.Select(suite => suite.Name))}.");
}
