using System.Runtime.InteropServices;
using System.Text;
using Voron.Format;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>Trees of value sets are compacted, copied, backed up and salvaged as other trees are.</summary>
public sealed class ValueSetStorageTests : IDisposable
{
    private const int PageSize = 4096;
    private const int Values = 6_000;
    private const int SmallSets = 500;

    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_directory.Path, "source");

    private string Target => Path.Combine(_directory.Path, "target");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Compaction_copies_and_backups_have_all_values()
    {
        using var environment = Open(Source);
        Fill(environment, "first");
        Fill(environment, "second");
        environment.Write(writing => writing.DeleteTree("first"));
        var report = await environment.CompactAsync(null, Token);
        report.BytesAfter.Should().BeLessThan(report.BytesBefore);
        Check(environment, "second", Values, SmallSets + 1);

        await environment.CompactToAsync(Target, null, Token);
        using (var copy = Open(Target))
            Check(copy, "second", Values, SmallSets + 1);
        var file = Path.Combine(_directory.Path, "all.vback");
        await environment.BackupAsync(file, null, Token);
        var restored = Path.Combine(_directory.Path, "restored");
        (await BackupFile.RestoreAsync([file], restored, null, Token)).Verification!.Problems.Should().BeEmpty();
        using var again = Open(restored);
        Check(again, "second", Values, SmallSets + 1);
    }

    [Fact]
    public async Task A_sound_tree_comes_over_as_it_is()
    {
        Make();
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.Trees.Select(tree => (tree.Name, tree.HasLosses)).Should().BeEquivalentTo([("sets", false), ("large sets of 'sets'", false)]);
        using var environment = Open(Target);
        Check(environment, "sets", Values, SmallSets + 1);
    }

    [Fact]
    public async Task The_values_of_a_damaged_page_of_a_large_set_are_lost_and_named()
    {
        var companion = Make() + 1;
        var lost = Damage(header => header.Kind == PageKind.Leaf && header.TreeMark == companion + 1);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var value = report.Trees.Single(tree => tree.Name == "sets").LostValues.Should().ContainSingle().Which;
        Encoding.UTF8.GetString(value.Key).Should().Be("large");
        value.Reason.Should().Be($"{Values - lost} of its {Values} values were found.");
        value.Length.Should().Be(lost * 12L);
        using var environment = Open(Target);
        Check(environment, "sets", Values - lost, SmallSets + 1);
    }

    [Fact]
    public async Task The_sets_of_a_damaged_leaf_are_lost_and_large_sets_without_a_key_are_kept()
    {
        var tree = Make();
        var lost = Damage(header => header.Kind == PageKind.Leaf && header.TreeMark == tree + 1, "large"u8.ToArray());
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.Trees.Single(one => one.Name == "sets").LostRanges.Should().ContainSingle();
        using var environment = Open(Target);
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        reading.OpenValueSetTree("sets").Count.Should().Be(SmallSets + 1 - lost);
        reading.OpenTree($"lost+found/large-sets-{tree}").Count.Should().Be(Values);
    }

    private static byte[] Value(int value) => Encoding.UTF8.GetBytes($"value {value:D6}");

    private static void Fill(StorageEnvironment environment, string name) => environment.Write(writing =>
    {
        var tree = writing.CreateValueSetTree(name);
        for (var i = 0; i < Values; i++)
            tree.Add("large"u8, Value(i));
        for (var set = 0; set < SmallSets; set++)
        {
            for (var i = 0; i <= set % 20; i++)
                tree.Add(BitConverter.GetBytes(set), Value(i));
        }
    });

    private static void Check(StorageEnvironment environment, string name, int large, int keys)
    {
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().Equal(name);
        var tree = reading.OpenValueSetTree(name);
        (tree.Count, tree.CountOf("large"u8)).Should().Be((keys, large));
        for (var set = 0; set < SmallSets; set++)
            tree.CountOf(BitConverter.GetBytes(set)).Should().Be(set % 20 + 1);
        using var values = tree.OpenValues("large"u8);
        var count = 0;
        while (values.MoveNext())
            count++;
        count.Should().Be(large);
    }

    private static StorageEnvironment Open(string path) => StorageEnvironment.Open(path, FaultTestKit.Options());

    // Returns the id of the tree.
    private uint Make()
    {
        using var environment = Open(Source);
        Fill(environment, "sets");
        using var reading = environment.BeginRead();
        return reading.OpenValueSetTree("sets").Opened.StateAsIs.TreeId;
    }

    // Damages a page, and returns the number of its entries.
    private int Damage(Func<PageHeader, bool> isWanted, byte[]? content = null)
    {
        var path = Path.Combine(Source, "voron.data");
        var file = File.ReadAllBytes(path);
        for (var start = PageSize; start < file.Length; start += PageSize)
        {
            var header = MemoryMarshal.Read<PageHeader>(file.AsSpan(start));
            var page = file.AsSpan(start, PageSize);
            if (header.PageNumber != start / PageSize || !isWanted(header))
                continue;
            if (content == null ? page.IndexOf("value 000000"u8) >= 0 : !HasKey(page, header.EntryCount, content))
                continue;
            file[start + 100]++;
            File.WriteAllBytes(path, file);
            return header.EntryCount;
        }

        throw new InvalidOperationException("There is no such page.");
    }

    private static bool HasKey(ReadOnlySpan<byte> page, int entries, byte[] key)
    {
        for (var i = 0; i < entries; i++)
        {
            var record = page[MemoryMarshal.Read<ushort>(page[(PageHeader.Size + i * sizeof(ushort))..])..];
            var length = MemoryMarshal.Read<ushort>(record) & LeafRecordHeader.KeyLengthMask;
            if (record.Slice(LeafRecordHeader.Size, length).SequenceEqual(key))
                return true;
        }

        return false;
    }
}
