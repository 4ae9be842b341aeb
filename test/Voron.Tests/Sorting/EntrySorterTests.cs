using System.Text;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Sorting;
using Voron.Sorting;

namespace Voron.Tests.Sorting;

public sealed class EntrySorterTests
{
    private const long MinMemory = BulkLoadOptions.MinMemoryBytes;

    public static TheoryData<int, int> KeysAndRules =>
        new MatrixTheoryData<int, int>(Enum.GetValues<KeyKind>().Cast<int>(), Enum.GetValues<DuplicateKeys>().Cast<int>());

    [Theory]
    [MemberData(nameof(KeysAndRules))]
    public void Entries_are_read_in_key_order_each_key_once(int keys, int rule)
    {
        foreach (var count in new[] { 0, 1, 300, 4_000, 40_000 })
            SortAndCheck((KeyKind)keys, (DuplicateKeys)rule, count);
    }

    [Fact]
    public void Entries_that_fit_into_half_of_the_memory_make_no_file()
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory });
        var model = place.Fill(Seeded(), KeyKind.Random, 1500, valueLength: 100);
        model.Check(place.Sorter.Complete());
        place.Sorter.SpilledBytes.Should().Be(0);
        place.Disk.TraceCount.Should().Be(0);
    }

    [Fact]
    public void Many_runs_are_merged_in_several_passes()
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory });
        var model = place.Fill(Seeded(), KeyKind.Random, 60_000, valueLength: 200);
        var before = place.Sorter.SpilledBytes;
        var entries = place.Sorter.Complete();
        place.Sorter.SpilledBytes.Should().BeGreaterThan(before + 1_000_000, "some runs were written again");
        place.Disk.Count(TraceKind.Punch).Should().BeGreaterThan(1, "the space of merged runs is returned");
        Enumerable.Range(0, place.Disk.TraceCount).Select(place.Disk.Trace).Where(entry => entry.Kind == TraceKind.Write)
            .Should().OnlyContain(write => write.LengthAfter == write.LengthBefore, "space is allocated before it is written");
        model.Check(entries);
        place.DisposeAndCheck();
    }

    [Fact]
    public void Entries_that_arrive_in_order_are_written_once()
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory });
        var model = place.Fill(Seeded(), KeyKind.Ascending, 60_000, valueLength: 200);
        model.Check(place.Sorter.Complete());
        place.Disk.Count(TraceKind.Punch).Should().Be(0, "there is a single run");
        place.Sorter.SpilledBytes.Should().BeLessThan(model.Bytes + model.Bytes / 10);
    }

    [Fact]
    public void Compressible_values_are_compressed_in_the_file()
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = 16 * MinMemory });
        var model = place.Fill(Seeded(), KeyKind.Ascending, 80_000, valueLength: 400, isCompressible: true);
        place.Sorter.Complete();
        place.Sorter.SpilledBytes.Should().BeLessThan(model.Bytes * 2 / 3);
    }

    [Theory]
    [InlineData(1 << 20)]
    [InlineData(3_000_001)]
    [InlineData(40 << 20)]
    public void The_longest_entries_and_keys_are_sorted_within_the_memory(long memory)
    {
        var random = Seeded();
        using var place = new SortPlace(new SortOptions { MemoryBytes = memory });
        var model = new SortModel(DuplicateKeys.LastWins);
        for (long bytes = 0; bytes < 4 * memory;)
        {
            var key = new byte[random.Next(3) == 0 ? place.Sorter.MaxKeyBytes : 20];
            random.NextBytes(key);
            var value = new byte[place.Sorter.MaxEntryBytes - key.Length - random.Next(3)];
            random.NextBytes(value);
            model.Add(key, value);
            place.Sorter.Add(key, value);
            bytes += key.Length + value.Length;
        }

        model.Check(place.Sorter.Complete());
        place.Account.PeakBytes.Should().BeGreaterThan(memory / 2);
        place.DisposeAndCheck();
    }

    [Fact]
    public void Entries_that_do_not_fit_are_refused_and_the_sort_continues()
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory });
        var sorter = place.Sorter;
        var (maxKey, maxEntry) = (sorter.MaxKeyBytes, sorter.MaxEntryBytes);
        Refused(sorter, [], [1]).Should().Contain("1 to");
        Refused(sorter, new byte[maxKey + 1], []).Should().Contain($"a key of {maxKey + 1} bytes").And.Contain($"1 to {maxKey} bytes");
        Refused(sorter, new byte[1], new byte[maxEntry]).Should().Contain($"{maxEntry} bytes together");
        sorter.Add(new byte[1], new byte[maxEntry - 1]);
        sorter.Add(new byte[maxKey], []);
        var entries = sorter.Complete();
        entries.MoveNext().Should().BeTrue();
        entries.Value.Length.Should().Be(maxEntry - 1);
        entries.MoveNext().Should().BeTrue();
        entries.Value.Length.Should().Be(0);
        entries.MoveNext().Should().BeFalse();
        entries.MoveNext().Should().BeFalse("the end remains");
    }

    [Theory]
    [InlineData(2)]
    [InlineData(1_000)]
    [InlineData(30_000)]
    public void A_refused_duplicate_is_named(int distance)
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory, Duplicates = DuplicateKeys.Refuse });
        var failure = Assert.Throws<DuplicateEntryException>(() =>
        {
            place.Sorter.Add("twice"u8, "first"u8);
            place.Fill(Seeded(), KeyKind.Random, distance, valueLength: 100);
            place.Sorter.Add("twice"u8, "second"u8);
            var entries = place.Sorter.Complete();
            while (entries.MoveNext())
            {
            }
        });
        failure.Key.ToArray().Should().Equal("twice"u8.ToArray());
        failure.Message.Should().Contain(Convert.ToHexString(Encoding.UTF8.GetBytes("twice")));
        place.DisposeAndCheck();
    }

    [Theory]
    [InlineData(DuplicateKeys.LastWins)]
    [InlineData(DuplicateKeys.FirstWins)]
    internal void The_order_of_arrival_decides_across_chunks_runs_and_passes(DuplicateKeys rule)
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory, Duplicates = rule });
        const int Keys = 5_000;
        const int Rounds = 9;
        var value = new byte[250];
        for (byte round = 1; round <= Rounds; round++)
        {
            value.AsSpan().Fill(round);
            for (var key = 0; key < Keys; key++)
                place.Sorter.Add(BitConverter.GetBytes(key * 7919 % Keys), value);
        }

        var entries = place.Sorter.Complete();
        var kept = rule == DuplicateKeys.LastWins ? Rounds : 1;
        while (entries.MoveNext())
        {
            if (entries.Value.ContainsAnyExcept((byte)kept))
                Assert.Fail($"key {Convert.ToHexString(entries.Key)} has the value of another round than {kept}");
        }

        entries.Count.Should().Be(Keys);
    }

    [Fact]
    public void All_entries_of_a_key_are_kept_in_order_of_arrival()
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory, Duplicates = null });
        const int Keys = 500;
        const int Rounds = 90;
        var value = new byte[250];
        for (byte round = 0; round < Rounds; round++)
        {
            value.AsSpan().Fill(round);
            for (var key = 0; key < Keys; key++)
                place.Sorter.Add(BitConverter.GetBytes(key * 7919 % Keys), value);
        }

        place.Sorter.SpilledBytes.Should().BeGreaterThan(0);
        var entries = place.Sorter.Complete();
        byte[] last = [];
        for (var i = 0; entries.MoveNext(); i++)
        {
            if (i % Rounds == 0)
                last.AsSpan().SequenceCompareTo(entries.Key).Should().BeNegative();
            else if (!entries.Key.SequenceEqual(last))
                Assert.Fail($"entry {i} has another key than the one before it");
            last = entries.Key.ToArray();
            if (entries.Value.ContainsAnyExcept((byte)(i % Rounds)))
                Assert.Fail($"entry {i} is not that of round {i % Rounds}");
        }

        entries.Count.Should().Be(Keys * Rounds);
        place.DisposeAndCheck();
    }

    [Fact]
    public void Nothing_is_added_after_the_end_and_nothing_read_after_the_disposal()
    {
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory });
        place.Fill(Seeded(), KeyKind.Random, 20_000, valueLength: 100);
        var entries = place.Sorter.Complete();
        Assert.Throws<InvalidOperationException>(() => place.Sorter.Add([1], []));
        Assert.Throws<InvalidOperationException>(() => place.Sorter.Complete());
        entries.MoveNext().Should().BeTrue();
        place.Sorter.Dispose();
        place.Sorter.Dispose();
        Assert.Throws<ObjectDisposedException>(() => entries.MoveNext());
        Assert.Throws<ObjectDisposedException>(() => place.Sorter.Add([1], []));
        Assert.Throws<ObjectDisposedException>(() => place.Sorter.Complete());
        place.DisposeAndCheck();
    }

    [Fact]
    public void No_entry_takes_managed_memory()
    {
        const int Entries = 30_000;
        using var disk = new MemoryDisk();
        using var sorter = new EntrySorter(new TemporaryFiles(disk), new SortOptions { MemoryBytes = 16 * MinMemory, UsesPool = false });
        var key = new byte[16];
        var value = new byte[100];
        var random = Seeded();
        ManagedAllocation.Least(() =>
        {
            for (var i = 0; i < Entries; i++)
            {
                random.NextBytes(key);
                sorter.Add(key, value);
            }
        }).Should().BeLessThan(Entries, "only chunks and runs take some");
        sorter.SpilledBytes.Should().BeGreaterThan(0);
        var entries = sorter.Complete();
        ManagedAllocation.Least(() =>
        {
            for (var i = 0; i < Entries; i++)
                entries.MoveNext();
        }).Should().BeLessThan(Entries);
    }

    private static void SortAndCheck(KeyKind keys, DuplicateKeys rule, int count)
    {
        var random = Seeded();
        var maker = new EntryMaker(random, keys, maxKeyBytes: 3000);
        var model = new SortModel(rule);
        using var place = new SortPlace(new SortOptions { MemoryBytes = MinMemory, Duplicates = rule });
        for (var i = 0; i < count; i++)
        {
            var key = maker.NextKey();
            if (rule == DuplicateKeys.Refuse && model.Contains(key))
                continue;
            var value = maker.NextValue(random.Next(random.Next(1000) == 0 ? 30_000 : 150), isCompressible: random.Next(2) == 0);
            model.Add(key, value);
            place.Sorter.Add(key, value);
        }

        model.Check(place.Sorter.Complete());
        place.DisposeAndCheck();
    }

    private static Random Seeded() => new(TestSeed.Choose());

    private static string Refused(EntrySorter sorter, byte[] key, byte[] value) =>
        Assert.Throws<ArgumentException>(() => sorter.Add(key, value)).Message;
}
