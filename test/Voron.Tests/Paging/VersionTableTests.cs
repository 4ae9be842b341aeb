using Voron.Paging;

namespace Voron.Tests.Paging;

[Quick]
public sealed unsafe class VersionTableTests : IDisposable
{
    private readonly VersionTable _table = new(1 << 20);

    public void Dispose() => _table.Dispose();

    [Fact]
    public void A_snapshot_finds_the_newest_version_it_may_see()
    {
        _table.EnsureCapacity(100);
        Find(7, 100).Should().Be(-1);
        foreach (var id in new[] { 10, 20, 20, 30 })
            Push(7, id);
        Find(7, 9).Should().Be(-1);
        Find(7, 10).Should().Be(10);
        Find(7, 29).Should().Be(20);
        Find(7, long.MaxValue).Should().Be(30);
        Find(8, long.MaxValue).Should().Be(-1);
        _table.NodeCount.Should().Be(4);
        _table.ChainCount.Should().Be(1);
        _table.ChainsInStretch(0).Should().Be(1);
    }

    [Fact]
    public void Pages_that_need_their_base_page_are_known_and_counted()
    {
        _table.EnsureCapacity(100);
        Push(1, 10);
        _table.PagesNeedingBase.Should().Be(1);
        _table.Push(2, 10, 0, null, 0, VersionFlags.New);
        _table.Push(1, 11, 0, null, 0, VersionFlags.Tombstone);
        _table.PagesNeedingBase.Should().Be(0, "the first page has been freed since");
        _table.Pop(_table.Newest(1));
        _table.PagesNeedingBase.Should().Be(1);
        _table.SetSelfContained(_table.Newest(1), 10);
        _table.PagesNeedingBase.Should().Be(0);

        // A version newer than a self-contained one needs no base page either, even after the self-contained one has been dropped.
        Push(2, 12);
        Push(2, 13);
        _table.Unlink(_table.Follow(_table.Newest(2)->Older), _table.Follow(_table.Follow(_table.Newest(2)->Older)->Older));
        _table.Find(2, 13, out var version);
        version.SelfContainedSinceId.Should().Be(10);
        _table.PagesNeedingBase.Should().Be(0);

        // This is so until the version that it builds on is in the data file.
        _table.Free(_table.Follow(_table.TruncateChain(2, _table.Newest(2))));
        _table.Find(2, 13, out version);
        version.SelfContainedSinceId.Should().Be(0);
        _table.PagesNeedingBase.Should().Be(1);
        _table.Free(_table.Follow(_table.TruncateChain(2, null)));
        _table.PagesNeedingBase.Should().Be(0);
        var first = _table.BeginDetach();
        _table.PagesNeedingBase.Should().Be(1, "any page that has a version may need its base page");
        var second = _table.BeginDetach();
        _table.EndDetach(first);
        _table.PagesNeedingBase.Should().Be(1, "a later flush has not detached all of its pages");
        _table.EndDetach(second);
        _table.PagesNeedingBase.Should().Be(0);
        _table.EndDetach(_table.BeginDetach());
        _table.EndDetach(first);
        _table.DetachIsIncomplete.Should().BeFalse();
    }

    [Fact]
    public void Popping_unlinking_and_cutting_leave_the_rest()
    {
        _table.EnsureCapacity(2000);
        for (var id = 1; id <= 5; id++)
            Push(1000, id);
        _table.Pop(_table.Newest(1000));
        Find(1000, 9).Should().Be(4);
        var four = _table.Newest(1000);
        var three = _table.Follow(four->Older);
        _table.Unlink(four, three);
        Find(1000, 3).Should().Be(2);

        // Versions two and one are cut off; the caller follows each one's link before freeing it.
        var link = _table.TruncateChain(1000, four);
        Find(1000, 3).Should().Be(-1);
        Find(1000, 4).Should().Be(4);
        for (var id = 2; link != 0; id--)
        {
            var node = _table.Follow(link);
            node->TransactionId.Should().Be(id);
            link = node->Older;
            _table.Free(node);
        }

        _table.ChainsInStretch(1000 / VersionTable.PagesPerStretch).Should().Be(1);
        _table.Free(_table.Follow(_table.TruncateChain(1000, null)));
        _table.HasVersion(1000).Should().BeFalse();
        _table.NodeCount.Should().Be(0);
        _table.ChainCount.Should().Be(0);
        _table.ChainsInStretch(1000 / VersionTable.PagesPerStretch).Should().Be(0);
    }

    [Fact]
    public void A_node_is_used_again_under_another_generation()
    {
        _table.EnsureCapacity(10);
        var node = Push(1, 1);
        var generation = node->Generation;
        _table.Pop(node);
        var again = Push(2, 2);
        ((nint)again).Should().Be((nint)node);
        again->Generation.Should().Be(generation + 1);
        Find(1, 9).Should().Be(-1);
        Find(2, 9).Should().Be(2);
    }

    [Fact]
    public void Walkers_find_one_version_whole_while_the_writer_works()
    {
        const int pages = 8;
        _table.EnsureCapacity(pages);
        var seed = TestSeed.Choose();

        // Version 1 of each page is never dropped: a walker that finds no version, or fields that do not belong together, is wrong.
        for (var page = 0; page < pages; page++)
            Push(page, 1);
        var stopping = false;
        var walks = 0L;
        string? fault = null;
        var walkers = Enumerable.Range(0, 2).Select(i => new Thread(() =>
        {
            var random = new Random(seed + i);
            while (!Volatile.Read(ref stopping))
            {
                var page = random.Next(pages);
                var snapshot = random.NextInt64(1, 40);
                if (!_table.Find(page, snapshot, out var version))
                    fault ??= $"page {page} has no version up to {snapshot}";
                else if (version.TransactionId > snapshot
                    || (nint)version.Frame != Frame(page, version.TransactionId)
                    || version.Pages != version.TransactionId)
                    fault ??= $"page {page} as of {snapshot}: version {version.TransactionId} with frame {(nint)version.Frame}, pages {version.Pages}";
                Interlocked.Increment(ref walks);
            }
        })).ToList();
        walkers.ForEach(walker => walker.Start());
        Work(new Random(seed), pages, () => Interlocked.Read(ref walks) < 2_000_000 && fault == null);
        Volatile.Write(ref stopping, true);
        walkers.ForEach(walker => walker.Join());
        fault.Should().BeNull();
    }

    private void Work(Random random, int pages, Func<bool> goOn)
    {
        while (goOn())
        {
            for (var i = 0; i < 1000; i++)
            {
                var page = random.Next(pages);
                var head = _table.Newest(page);
                var older = _table.Follow(head->Older);
                switch (random.Next(4))
                {
                    case 0:
                    case 1:
                        if (head->TransactionId < 39)
                            Push(page, head->TransactionId + random.Next(1, 3));
                        break;
                    case 2:
                        if (older != null)
                            _table.Pop(head);
                        break;
                    default:
                        if (older != null && older->Older != 0)
                            _table.Unlink(head, older);
                        break;
                }
            }
        }
    }

    private VersionNode* Push(long page, long id) =>
        _table.Push(page, id, 0, (byte*)Frame(page, id), (int)id, VersionFlags.None);

    private static nint Frame(long page, long id) => (nint)(page * 1_000_000 + id);

    private long Find(long page, long snapshot) => _table.Find(page, snapshot, out var version) ? version.TransactionId : -1;
}
