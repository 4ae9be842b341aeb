namespace Voron.Tests.Api;

/// <summary>Unions of more sets than are all asked for each id.</summary>
[Quick]
public sealed class IdUnionTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory();

    public void Dispose() => _environment.Dispose();

    [Theory]
    [InlineData(8)]
    [InlineData(9)]
    [InlineData(60)]
    public void A_union_has_each_id_of_any_set_once_however_it_is_read(int sets)
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < SuiteShare.Rounds(30); round++)
        {
            var model = new SortedSet<long>();
            using var writing = _environment.BeginWrite();
            var tree = writing.CreateIdTree($"t{round}");
            for (var set = 0; set < sets; set++)
            {
                for (var count = random.Next(random.Next(2) == 0 ? 3 : 300); count > 0; count--)
                {
                    var id = random.Next(4) == 0 ? long.MaxValue - random.Next(20) : random.Next(2_000);
                    tree.Add([(byte)set], id);
                    model.Add(id);
                }
            }

            Read(random, model, IdQuery.Or([.. Enumerable.Range(0, sets).Select(set => writing.OpenIdTree($"t{round}").Query([(byte)set]))]));
            writing.Commit();
            using var reading = _environment.BeginRead();
            IdQuery Open() => IdQuery.Or([.. Enumerable.Range(0, sets).Select(set => reading.OpenIdTree($"t{round}").Query([(byte)set]))]);
            Read(random, model, Open());
            using var all = Open();
            all.CountRest().Should().Be(model.Count);
        }
    }

    /// <summary>Each set was asked for each id, and each was checked for changes: 4,000 sets took 190 times as long as a merge in memory.</summary>
    [Fact]
    public void A_union_of_thousands_of_sets_is_a_merge()
    {
        const int Sets = 4_000;
        const int IdsOfSet = 50;
        _environment.Write(writing =>
        {
            var tree = writing.CreateIdTree("t");
            for (var set = 0; set < Sets; set++)
                tree.AddMany(BitConverter.GetBytes(set), Ids(set, IdsOfSet));
        });
        using var reading = _environment.BeginRead();
        var sets = Enumerable.Range(0, Sets).Select(set => reading.OpenIdTree("t").Query(BitConverter.GetBytes(set))).ToArray();
        var counted = 0L;
        var merged = 0L;
        Merge(Sets / 10, IdsOfSet);
        var merge = ThreadClock.Measure(() => merged = Merge(Sets, IdsOfSet));
        var union = ThreadClock.Measure(() =>
        {
            using var any = IdQuery.Or(sets);
            while (any.MoveNext())
                counted++;
        });
        TestContext.Current.TestOutputHelper?.WriteLine($"{union.TotalMilliseconds:F0} ms, a merge {merge.TotalMilliseconds:F0} ms");
        union.Should().BeLessThan(merge * 20);
        counted.Should().Be(merged);
    }

    private static long[] Ids(int set, int count) => [.. Enumerable.Range(0, count).Select(i => (i * 104_729L + set * 7_919L) % 1_000_000).Order()];

    private static long Merge(int sets, int idsOfSet)
    {
        var queue = new PriorityQueue<(long[] Ids, int At), long>();
        for (var set = 0; set < sets; set++)
        {
            var ids = Ids(set, idsOfSet);
            queue.Enqueue((ids, 0), ids[0]);
        }

        var (count, last) = (0L, -1L);
        while (queue.TryDequeue(out var first, out var id))
        {
            count += id == last ? 0 : 1;
            last = id;
            if (first.At + 1 < first.Ids.Length)
                queue.Enqueue((first.Ids, first.At + 1), first.Ids[first.At + 1]);
        }

        return count;
    }

    private static void Read(Random random, SortedSet<long> model, IdQuery query)
    {
        using (query)
        {
            var expected = model.ToList();
            var at = 0;

            // A buffer begins with an id to which a seek went.
            var isSought = false;
            while (at < expected.Count)
            {
                switch (random.Next(3))
                {
                    case 0:
                        query.MoveNext().Should().BeTrue();
                        query.Current.Should().Be(expected[at++]);
                        isSought = false;
                        break;
                    case 1:
                        var target = expected[Math.Min(expected.Count - 1, at + random.Next(5))] - random.Next(2);
                        query.Seek(target).Should().BeTrue();
                        at = Math.Max(at == 0 ? 0 : at - 1, expected.FindIndex(id => id >= target));
                        query.Current.Should().Be(expected[at++]);
                        isSought = true;
                        break;
                    default:
                        var ids = new long[random.Next(1, 40)];
                        var next = expected.Skip(isSought ? at - 1 : at).Take(ids.Length).ToList();
                        query.Fill(ids).Should().Be(next.Count);
                        ids.Take(next.Count).Should().Equal(next);
                        at = (isSought ? at - 1 : at) + next.Count;
                        isSought = false;
                        break;
                }
            }

            query.MoveNext().Should().BeFalse();
        }
    }
}
