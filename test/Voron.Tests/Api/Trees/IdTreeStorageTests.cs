using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>Trees of id sets are dropped, compacted, copied, backed up and verified as other trees are.</summary>
public sealed class IdTreeStorageTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public IdTreeStorageTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task A_dropped_tree_leaves_no_page()
    {
        Fill("kept", sets: 10, ids: 500);
        var before = _environment.Verify().UsedPages;
        Fill("dropped", sets: 3, ids: 150_000);
        Fill("dropped", sets: 3_000, ids: 20);
        (await _environment.DropTreeAsync("dropped", Token)).Should().BeTrue();
        await TestWait.UntilAsync(() => _environment.Verify().UsedPages == before);
        var report = _environment.Verify();
        report.Problems.Should().BeEmpty();
        report.UsedPages.Should().Be(before);
    }

    [Fact]
    public void A_flush_counts_the_pages_of_sets_as_leaves_and_branches()
    {
        var reports = new List<FlushReport>();
        using var directory = new TestDirectory();
        var options = new StorageOptions { BackgroundFlush = false, FlushObserver = reports.Add };
        using var environment = StorageEnvironment.Open(directory.Path, options);
        environment.Write(writing => writing.CreateIdTree("sets").AddMany("k"u8, [.. Enumerable.Range(0, 200_000).Select(id => id * 1_000_003L)]));
        environment.Flush();
        using var reading = environment.BeginRead();
        var size = reading.OpenIdTree("sets").GetStatistics();
        var report = reports.Single(report => report.Leaves > 0);
        report.Branches.Should().BeGreaterThan(0);

        // Beside those of the set, there are its leaf and that of the catalog.
        (report.Leaves + report.Branches).Should().Be((int)size.NestedPages + 2);
    }

    [Fact]
    public async Task Compaction_moves_the_pages_of_sets_and_copies_have_the_ids()
    {
        Fill("first", sets: 5, ids: 80_000);
        Fill("second", sets: 4, ids: 90_000);
        Fill("second", sets: 400, ids: 90);
        using (var writing = _environment.BeginWrite())
        {
            writing.DeleteTree("first");
            writing.Commit();
        }

        var report = await _environment.CompactAsync(null, Token);
        report.BytesAfter.Should().BeLessThan(report.BytesBefore);
        Check(_environment);

        using var target = new TestDirectory();
        var copied = Path.Combine(target.Path, "copy");
        var moved = (await _environment.CompactToAsync(copied, null, Token)).BytesMoved;
        var used = new FileInfo(Path.Combine(copied, "voron.data")).Length;
        moved.Should().BeInRange(used / 4, 2 * used, "ids count as the bytes that they take in blocks");
        using (var copy = StorageEnvironment.Open(copied, FaultTestKit.Options()))
            Check(copy);

        var file = Path.Combine(target.Path, "all.vback");
        await _environment.BackupAsync(file, null, Token);
        var restored = Path.Combine(target.Path, "restored");
        (await BackupFile.RestoreAsync([file], restored, null, Token)).Verification!.Problems.Should().BeEmpty();
        using var again = StorageEnvironment.Open(restored, FaultTestKit.Options());
        Check(again);

        static void Check(StorageEnvironment environment)
        {
            environment.Verify().Problems.Should().BeEmpty();
            using var reading = environment.BeginRead();
            var tree = reading.OpenIdTree("second");
            (tree.Count, tree.ValueCount).Should().Be((400, 4 * 90_000 + 396 * 90));
            using var keys = tree.OpenCursor();
            var buffer = new long[1_000];
            while (keys.MoveNext())
            {
                var number = BitConverter.ToInt32(keys.Key);
                using var ids = keys.OpenIds();
                var at = 0L;
                for (int count; (count = ids.Fill(buffer)) > 0;)
                {
                    for (var i = 0; i < count; i++, at++)
                        buffer[i].Should().Be(IdOf(number, at));
                }

                at.Should().Be(keys.Count);
            }
        }
    }

    [Fact]
    public void Waiting_changes_allocate_nothing()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateIdTree("t");

        // Lists of changed pages grow at first.
        ManagedAllocation.Least(
            () =>
            {
                for (var i = 0; i < 200; i++)
                    tree.Add([(byte)(i % 5)], i * 31 % 977, (byte)i);
                tree.Remove([1], 5);
                tree.Contains([1], 7);
                using var ids = tree.OpenIds([2]);
                while (ids.MoveNext())
                    _ = ids.Payload;
            },
            rounds: 10).Should().Be(0);
    }

    private static long IdOf(int set, long index) => set + index * (set % 3 + 1);

    private void Fill(string name, int sets, int ids)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateIdTree(name);
        for (var set = 0; set < sets; set++)
        {
            for (var i = 0; i < ids; i++)
                tree.Add(BitConverter.GetBytes(set), IdOf(set, i));
        }

        writing.Commit();
    }
}
