using Xunit.Sdk;
using Xunit.v3;

namespace Voron.Torture.Tests;

/// <summary>
/// Begins with the classes that take longest, so that none of them runs alone at the end while other processors have nothing to do. Classes run
/// side by side, the tests of a class one after the other.
/// </summary>
public sealed class LongestFirst : ITestCollectionOrderer
{
    // In the order of their times.
    private static readonly string[] Longest =
    [
        typeof(SuiteTests).FullName!,
        typeof(GuardedMemoryTests).FullName!,
    ];

    public IReadOnlyCollection<TTestCollection> OrderTestCollections<TTestCollection>(IReadOnlyCollection<TTestCollection> testCollections)
        where TTestCollection : ITestCollection => [.. testCollections.OrderBy(static collection => RankOf(collection.TestCollectionDisplayName))];

    private static int RankOf(string name)
    {
        var rank = Array.FindIndex(Longest, longest => name.Contains(longest, StringComparison.Ordinal));
        return rank < 0 ? Longest.Length : rank;
    }
}
