using Voron.Trees.IdSets.Pages;

namespace Voron.Tests.Trees.IdSets;

/// <summary>Compares random changes of a set with those of a sorted dictionary. A failure names the seed to run again.</summary>
public sealed class IdSetModelTests
{
    public enum Ids
    {
        Appended,
        Dense,
        Random,
        AnyWhere,
        Clustered,
    }

    [Theory]
    [InlineData(4096, Ids.Appended, 6_000, 1)]
    [InlineData(4096, Ids.Dense, 6_000, 2)]
    [InlineData(4096, Ids.Random, 8_000, 3)]
    [InlineData(4096, Ids.AnyWhere, 5_000, 4)]
    [InlineData(4096, Ids.Clustered, 5_000, 5)]
    [InlineData(8192, Ids.Random, 4_000, 6)]
    [InlineData(65536, Ids.AnyWhere, 3_000, 7)]
    [InlineData(65536, Ids.Appended, 3_000, 8)]
    public void A_set_does_what_a_sorted_dictionary_does(int pageSize, Ids ids, int steps, int seed)
    {
        try
        {
            Run(pageSize, ids, steps, seed);
        }
        catch (Exception problem)
        {
            throw new InvalidOperationException($"page size {pageSize}, ids {ids}, seed {seed}: {problem.Message}", problem);
        }
    }

    private static void Run(int pageSize, Ids kind, int steps, int seed)
    {
        var random = new Random(seed);
        using var set = new TestIdSet(pageSize);
        for (var i = 0; i < steps; i++)
        {
            // Phases of growing and of shrinking, so that pages are merged and the set becomes empty now and then.
            var isGrowing = (i / (steps / 6) & 1) == 0;
            var count = random.Next(20) == 0 ? random.Next(1, 400) : random.Next(1, 3);
            set.Apply(Changes(set, kind, count, isGrowing, random));
            if (random.Next(100) == 0)
                set.Pages.EndTransaction();
            else if (random.Next(200) == 0)
                set.Pages.Savepoint();
            if (random.Next(steps / 10) == 0)
                set.Check();
            if (random.Next(steps / 2) == 0 && set.Set.Root != 0)
                set.Free();
        }

        set.Check();
        set.Apply([.. set.Model.Keys.Select(id => new IdChange(id, IdChange.Removal))]);
        set.Pages.EndTransaction();
        set.Check();
        set.Set.Root.Should().Be(0);
    }

    private static IdChange[] Changes(TestIdSet set, Ids kind, int count, bool isGrowing, Random random)
    {
        var changes = new SortedDictionary<long, short>();
        var last = set.Last();
        var near = NewId(kind, last, random);
        for (var i = 0; i < count; i++)
        {
            var isRemoval = random.Next(100) < (isGrowing ? 25 : 80);
            var id = kind == Ids.Clustered ? near + random.Next(2_000) : NewId(kind, last, random);
            if (isRemoval && set.Model.Count > 0 && random.Next(4) != 0)
                id = Existing(set, random, i == 0 || kind != Ids.Clustered ? -1 : near);
            changes[Math.Min(id, long.MaxValue)] = isRemoval ? IdChange.Removal : (short)(random.Next(3) == 0 ? random.Next(256) : 0);
            last = Math.Max(last, id);
        }

        return [.. changes.Select(change => new IdChange(change.Key, change.Value))];
    }

    private static long Existing(TestIdSet set, Random random, long near)
    {
        var cursor = set.OpenCursor();
        if (!cursor.Seek(near >= 0 ? near : random.NextInt64(set.Last())))
            cursor.MovePrevious();
        return cursor.Current;
    }

    private static long NewId(Ids kind, long last, Random random) => kind switch
    {
        Ids.Appended => last + 1 + random.Next(random.Next(50) == 0 ? 200_000 : 30),
        Ids.Dense => random.Next(30_000),
        Ids.Random => random.Next(3_000_000),
        Ids.Clustered => random.NextInt64(1L << 40),
        _ => random.Next(10) == 0 ? long.MaxValue - random.Next(100) : random.NextInt64() >> random.Next(60),
    };
}
