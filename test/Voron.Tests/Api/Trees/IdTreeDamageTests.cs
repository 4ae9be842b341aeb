using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>A page of a set is damaged: a call that copies ids and fails at it has not moved, so no id is lost to the caller.</summary>
public sealed class IdTreeDamageTests : IDisposable
{
    private const int Count = 50_000;
    private const int PageSize = 4096;

    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_cursor_that_cannot_fill_a_buffer_is_where_it_was()
    {
        using var environment = OpenDamaged(out var first);
        using var reading = environment.BeginRead();
        var tree = reading.OpenIdTree("t");
        using var ids = tree.OpenIds("k"u8);
        Fails(() => ids.Fill(new long[Count]));
        ids.IsOnId.Should().BeFalse();
        ids.MoveNext().Should().BeTrue();
        ids.Id.Should().Be(0);
        ids.Fill(new long[10]).Should().Be(10);
        Fails(() => ids.Fill(new long[Count], new byte[Count]));
        (ids.IsOnId, ids.Id).Should().Be((true, 20));
        ids.MoveNext().Should().BeTrue();
        ids.Id.Should().Be(22);

        ids.Seek(100);
        Fails(() => ids.Fill(new long[Count]));
        Fails(() => ids.Fill(new long[Count]));
        var few = new long[3];
        ids.Fill(few).Should().Be(3);
        few.Should().Equal(100, 102, 104);
        ids.Seek(101);
        Fails(() => ids.Fill(new long[Count]));
        ids.MoveNext().Should().BeTrue();
        ids.Id.Should().Be(104, "102 was found by the seek");

        // Directly before the damage, and behind it.
        ids.Seek(first - 2).Should().BeTrue();
        Fails(() => ids.Fill(few));
        ids.Id.Should().Be(first - 2);
        ids.Fill(few.AsSpan(0, 1)).Should().Be(1);
        few[0].Should().Be(first - 2);
        ids.Seek(2 * (Count - 2)).Should().BeTrue();
        ids.Fill(few).Should().Be(2);
    }

    [Fact]
    public void A_query_that_cannot_fill_a_buffer_is_where_it_was()
    {
        using var environment = OpenDamaged(out _);
        using var reading = environment.BeginRead();
        var tree = reading.OpenIdTree("t");
        foreach (var make in new Func<IdQuery>[]
        {
            () => tree.Query("k"u8),
            () => IdQuery.And(tree.Query("k"u8), tree.Query("all"u8)),
            () => IdQuery.Or(tree.Query("k"u8), tree.Query("few"u8)),
            () => IdQuery.Or([tree.Query("k"u8), .. Enumerable.Range(0, 20).Select(_ => reading.OpenIdTree("t").Query("few"u8))]),
            () => IdQuery.AndNot(tree.Query("k"u8), tree.Query("odd"u8)),
        })
        {
            using var query = make();
            Fails(() => query.Fill(new long[Count]));
            query.MoveNext().Should().BeTrue();
            query.Current.Should().Be(0);
            query.Fill(new long[10]).Should().Be(10);
            Fails(() => query.Fill(new long[Count]));
            query.Current.Should().Be(20);
            query.MoveNext().Should().BeTrue();
            query.Current.Should().Be(22);
            query.Seek(41).Should().BeTrue();
            Fails(() => query.Fill(new long[Count]));
            var few = new long[3];
            query.Fill(few).Should().Be(3);
            few.Should().Equal(42, 44, 46);
            Fails(() => query.CountRest());
        }
    }

    private static void Fails(Action call) => call.Should().Throw<CorruptionException>();

    // Even ids; the third page of them is damaged.
    private StorageEnvironment OpenDamaged(out long first)
    {
        using (var environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options()))
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateIdTree("t");
                var payloads = Enumerable.Range(0, Count).Select(i => (byte)i).ToArray();
                tree.AddMany("k"u8, Enumerable.Range(0, Count).Select(i => 2L * i).ToArray(), payloads);
                tree.AddMany("all"u8, Enumerable.Range(0, 2 * Count).Select(i => (long)i).ToArray());
                tree.AddMany("few"u8, [0, 2, 4]);
                tree.AddMany("odd"u8, [1, 3, 5]);
            });
        }

        var path = Path.Combine(_directory.Path, "voron.data");
        var bytes = File.ReadAllBytes(path);
        var pages = new SortedDictionary<long, int>();
        for (var at = 0; at < bytes.Length; at += PageSize)
        {
            var header = MemoryMarshal.Read<PageHeader>(bytes.AsSpan(at));
            var entry = MemoryMarshal.Read<IdBlockEntry>(bytes.AsSpan(at + PageHeader.Size));
            if (header.Kind == PageKind.Ids && header.PageNumber == at / PageSize && entry is { PayloadWidth: > 0 })
                pages[entry.First] = at;
        }

        first = pages.Keys.ElementAt(2);
        bytes[pages[first] + PageSize - 1] ^= 1;
        File.WriteAllBytes(path, bytes);
        return StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
    }
}
