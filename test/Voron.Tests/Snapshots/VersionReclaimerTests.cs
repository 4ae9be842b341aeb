using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Scratch;
using Voron.Snapshots;

namespace Voron.Tests.Snapshots;

[Quick]
public sealed unsafe class VersionReclaimerTests : IDisposable
{
    private const int PageSize = 4096;

    private readonly StateRing _ring = new(new PublishedState { State = new EnvironmentState { TransactionId = 1 } });
    private readonly ReaderTable _readers;
    private readonly VersionTable _versions = new(1 << 16);
    private readonly FrameAllocator _frames = new(PageSize, long.MaxValue, null);
    private readonly VersionReclaimer _versionReclaimer;

    public VersionReclaimerTests()
    {
        _readers = new ReaderTable(_ring);
        _versions.EnsureCapacity(1000);
        _versionReclaimer = new VersionReclaimer(_versions, _frames, _readers, _ring, dataFileKeyHeads: null, new NativeHeap());
    }

    private long UsedFrames => _frames.UsedBytes / PageSize;

    public void Dispose()
    {
        _frames.Dispose();
        _versions.Dispose();
        _readers.Dispose();
        _ring.Dispose();
    }

    [Fact]
    public void A_superseded_version_goes_when_its_successor_is_published()
    {
        Write(7, 2);
        Publish(2);
        Write(7, 3);
        _versionReclaimer.Reclaim();
        Chain(7).Should().Equal(3, 2);
        Publish(3);
        _versionReclaimer.Reclaim();
        Chain(7).Should().Equal(3);
        UsedFrames.Should().Be(1);
    }

    [Fact]
    public void A_reader_keeps_its_own_version_and_no_other()
    {
        WriteAndPublish(7, 2);
        WriteAndPublish(7, 3);
        var slot = _readers.TakeSlot();
        _readers.Register(slot);
        for (var id = 4; id <= 200; id++)
        {
            WriteAndPublish(7, id);
            _versionReclaimer.Reclaim();
            Chain(7).Should().Equal(id, 3);
        }

        UsedFrames.Should().Be(2);
        _readers.Release(slot);
        _versionReclaimer.Reclaim();
        Chain(7).Should().Equal(200);
        UsedFrames.Should().Be(1);
    }

    [Fact]
    public void Each_reader_keeps_its_version_in_the_middle_of_a_chain()
    {
        var slots = new Dictionary<int, int>();
        for (var id = 2; id <= 40; id++)
        {
            WriteAndPublish(7, id);
            if (id % 10 == 0)
                _readers.Register(slots[id] = _readers.TakeSlot());
            _versionReclaimer.Reclaim();
        }

        Chain(7).Should().Equal(40, 30, 20, 10);
        _readers.Release(slots[20]);
        Again();
        Chain(7).Should().Equal(40, 30, 10);
        _readers.Release(slots[10]);
        Again();
        Chain(7).Should().Equal(40, 30);
    }

    [Fact]
    public void Detached_frames_wait_for_readers_that_may_hold_them_and_for_no_others()
    {
        WriteAndPublish(7, 2);
        WriteAndPublish(8, 3);
        var old = _readers.TakeSlot();
        _readers.Register(old);
        WriteAndPublish(9, 4);
        _versionReclaimer.Reclaim();
        var sequence = _versionReclaimer.Detach([7, 8], 3, null);
        sequence.Should().Be(_ring.Sequence);
        Chain(7).Should().BeEmpty();
        Chain(8).Should().BeEmpty();
        Chain(9).Should().Equal(4);

        // A reader that registers from now on does not find them.
        var young = _readers.TakeSlot();
        _readers.Register(young);
        _versionReclaimer.Reclaim();
        UsedFrames.Should().Be(3, "the reader may hold both");
        _readers.Release(old);
        _versionReclaimer.Reclaim();
        UsedFrames.Should().Be(1);
    }

    [Fact]
    public void Of_detached_frames_those_go_that_no_reader_could_have_found()
    {
        WriteAndPublish(7, 2);
        var old = _readers.TakeSlot();
        _readers.Register(old);
        WriteAndPublish(8, 3);
        WriteAndPublish(9, 4);

        // The reader at 2 could have found page 7 only; 8 and 9 did not exist then.
        _versionReclaimer.Detach([7, 8, 9], 4, null);
        _versionReclaimer.Reclaim();
        UsedFrames.Should().Be(1);
        _versionReclaimer.Reclaim();
        UsedFrames.Should().Be(1);
        _readers.Release(old);
        _versionReclaimer.Reclaim();
        UsedFrames.Should().Be(0);
        _versions.NodeCount.Should().Be(0);
    }

    [Fact]
    public void A_newer_version_survives_the_flush_of_an_older_one()
    {
        WriteAndPublish(7, 2);
        WriteAndPublish(7, 5);
        _versionReclaimer.Detach([7], 3, null);
        Chain(7).Should().Equal(5);
        _versionReclaimer.Reclaim();
        UsedFrames.Should().Be(1);
    }

    private void Again()
    {
        // Versions that were blocked are checked again in turn, some at a time.
        for (var i = 0; i < 3; i++)
            _versionReclaimer.Reclaim();
    }

    private void WriteAndPublish(long page, long id)
    {
        Write(page, id);
        Publish(id);
    }

    private void Write(long page, long id)
    {
        var node = _versions.Push(page, id, 0, _frames.Rent(), 1, VersionFlags.None);
        if (node->Older != 0)
            _versionReclaimer.AddSuperseded(page, id);
    }

    private void Publish(long id) => _ring.Publish(new EnvironmentState { TransactionId = id }, default, attached: null);

    private List<long> Chain(long page)
    {
        var ids = new List<long>();
        for (var node = _versions.Newest(page); node != null; node = _versions.Follow(node->Older))
            ids.Add(node->TransactionId);
        return ids;
    }
}
