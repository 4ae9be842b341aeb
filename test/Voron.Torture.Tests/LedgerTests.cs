using Voron.Simulation.Harness;

namespace Voron.Torture.Tests;

/// <summary>The ledger sums up only runs that have happened, and each of them once.</summary>
public sealed class LedgerTests
{
    private const int Writers = 8;

    [Fact]
    public void Runs_of_the_same_seed_count_once() =>
        Ledger.Distinct([Result(1, 0, 10), Result(1, 0, 10), Result(1, 0, 4), Result(2, 0, 10)]).Should().Be((20L, 200L));

    [Fact]
    public void Overlapping_runs_count_only_their_new_cases() =>
        Ledger.Distinct([Result(1, 0, 10), Result(1, 5, 10), Result(1, 20, 10), Result(1, 2, 3)]).Should().Be((25L, 250L));

    [Fact]
    public void An_enumeration_counts_by_the_seed_that_came_farthest() =>
        Ledger.Distinct([Result(1, 0, 10, true), Result(2, 0, 15, true), Result(1, 10, 10, true)]).Should().Be((20L, 200L));

    [Fact]
    public void A_ledger_without_runs_is_empty() => Ledger.Distinct([Result(1, 0, 0)]).Should().Be((0L, 0L));

    [Fact]
    public void Concurrent_additions_lose_nothing()
    {
        using var directory = new TestDirectory();
        var path = Path.Combine(directory.Path, "below", "ledger.json");
        Thread[] writers = [.. Enumerable.Range(0, Writers).Select(seed => new Thread(() => Ledger.Add(path, [Result(seed, 0, 1)])))];
        foreach (var writer in writers)
            writer.Start();
        foreach (var writer in writers)
            writer.Join();
        Ledger.Load(path).Select(result => result.Seed).Should().BeEquivalentTo(Enumerable.Range(0, Writers).Select(seed => (long)seed));
    }

    private static SuiteResult Result(long seed, long first, long runs, bool isEnumerated = false) => new(
        "scripted", "cases", "1.0", DateTimeOffset.UnixEpoch, null, seed, first, runs, runs * 10, 1_000, 1_000, false, 1,
        new Dictionary<string, long>(), [], [])
    {
        IsEnumerated = isEnumerated,
    };
}
