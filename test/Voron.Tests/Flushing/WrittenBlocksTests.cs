using Voron.Flushing;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

public sealed partial class WrittenBlocksTests : IDisposable
{
    private const int ValueBytes = 256 << 10;
    private const int MiB = 1 << 20;

    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(1);

    private readonly HandClock _clock = new();
    private readonly SimulatedDisk _disk = new();

    public void Dispose() => _disk.Dispose();

    [Fact]
    public void Values_that_make_the_file_grow_are_written_to_blocks_written_before()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        Fill(blocks, file);
        var (first, end) = (file.CapacityPages * file.PageSize, file.CapacityPages * file.PageSize + file.WrittenAheadBytes);
        (end - first).Should().BeInRange(5 * MiB, 6 * MiB, "the file has grown by as much");

        // All addresses of the file are used up, and the file grows into the blocks, no further.
        List<long> offsets = [];
        var grown = 0;
        Watch(call =>
        {
            grown += call.Kind == DiskCallKind.Allocate ? 1 : 0;
            if (call.Kind == DiskCallKind.Write)
                offsets.Add(call.Offset);
        });
        var next = 24;
        while (!offsets.Exists(offset => offset >= first))
            Put(environment, next++, count: 1);
        file.CapacityPages.Should().Be(end / file.PageSize, "pages after the blocks would get addresses, and never be written ahead");
        offsets.Clear();
        Put(environment, next, count: 8);
        offsets.Should().OnlyContain(offset => offset >= first && offset < end);
        grown.Should().Be(0, "the blocks were allocated before");
        Check(environment);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Blocks_are_allocated_and_synced_once()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        List<DiskCall> calls = [];
        Watch(calls.Add);
        Fill(blocks, file);
        calls.Count(call => call.Kind == DiskCallKind.Allocate).Should().BeLessThanOrEqualTo(1);
        calls.Count(call => call.Kind == DiskCallKind.Sync).Should().BeLessThanOrEqualTo(2, "one for the allocation, and one in the end");
        calls[^1].Kind.Should().Be(DiskCallKind.Sync, "the next commit should not have to write the metadata");
        calls.Where(call => call.Kind == DiskCallKind.Write).Should().OnlyContain(call => call.Length <= DataFile.ZeroedAtOnce);
    }

    [Fact]
    public void A_writer_waits_for_one_piece_and_no_sync()
    {
        using var environment = Open();
        var (file, writer) = (FileOf(environment), environment.Internals.Engine.WriterLock!);
        var blocks = Grow(environment, 24);
        var (isTaken, syncs) = (false, 0);
        Watch(call =>
        {
            if (call.Kind == DiskCallKind.Write && !isTaken)
                isTaken = writer.TryEnter(TimeSpan.Zero, CancellationToken.None);
            else if (isTaken)
                syncs += call.Kind == DiskCallKind.Sync ? 1 : 0;
        });
        WriteSome(blocks, file).Should().Be(DataFile.ZeroedAtOnce);
        blocks.WriteWhenQuiet().Should().BeFalse();
        file.WrittenAheadBytes.Should().Be(DataFile.ZeroedAtOnce);
        syncs.Should().Be(0);

        // The time begins again when the writer is free.
        blocks.Observe();
        writer.Release();
        blocks.WriteWhenQuiet().Should().BeFalse();
        _clock.Pass(Quiet / 2);
        blocks.Observe();
        blocks.WriteWhenQuiet().Should().BeFalse();
        file.WrittenAheadBytes.Should().Be(DataFile.ZeroedAtOnce);
        _clock.Pass(Quiet);
        Fill(blocks, file);
        Put(environment, 24, count: 8);
        Check(environment);
    }

    [Fact]
    public async Task Nothing_is_written_soon_after_a_commit_or_while_a_value_is_staged()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24, passes: false);
        blocks.AreDue.Should().BeTrue();
        blocks.WriteWhenQuiet().Should().BeFalse();
        _clock.Pass(Quiet);
        Put(environment, 24, count: 1);
        blocks.WriteWhenQuiet().Should().BeFalse("the commit has not been observed");
        using (await environment.StageAsync(new MemoryStream(Value(1)), TestContext.Current.CancellationToken))
        {
            blocks.Observe();
            _clock.Pass(2 * Quiet);
            blocks.Observe();
            blocks.WriteWhenQuiet().Should().BeFalse();
        }

        file.WrittenAheadBytes.Should().Be(0);
        Put(environment, 24, count: 1);
        blocks.Observe();
        _clock.Pass(Quiet);
        Fill(blocks, file);
    }

    [Fact]
    public void The_thread_returns_to_its_other_work_after_a_while()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        Watch(call => _clock.Pass(call.Kind == DiskCallKind.Write ? TimeSpan.FromMilliseconds(20) : TimeSpan.Zero));
        WriteSome(blocks, file).Should().Be(3 * DataFile.ZeroedAtOnce);
        blocks.AreDue.Should().BeTrue();
    }

    [Fact]
    public void A_turn_that_ends_with_the_last_piece_is_synced()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        List<DiskCallKind> calls = [];
        Watch(call =>
        {
            calls.Add(call.Kind);
            if (file.WrittenAheadBytes >= 4 * MiB)
                _clock.Pass(Quiet);
        });
        TestWait.Until(() => !blocks.WriteWhenQuiet() && !blocks.AreDue, "the environment is quiet");
        calls[^1].Should().Be(DiskCallKind.Sync);
    }

    [Fact]
    public void Closing_stops_after_a_piece()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        _clock.Reading = () =>
        {
            if (file.WrittenAheadBytes > 0)
                environment.Internals.Engine.Closing.Cancel();
        };
        WriteSome(blocks, file).Should().BeLessThanOrEqualTo(2 * DataFile.ZeroedAtOnce);
    }

    [Fact]
    public void Writing_stops_when_its_blocks_are_given_up()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        _clock.Reading = () =>
        {
            if (file.WrittenAheadBytes == DataFile.ZeroedAtOnce && file.TimesGivenUp == 0)
                file.GiveUpWritten();
        };
        WriteSome(blocks, file).Should().Be(DataFile.ZeroedAtOnce, "only the piece under way is written afterwards");
    }

    [Fact]
    public void One_environment_writes_at_a_time()
    {
        using var other = StorageEnvironment.Open(new SimulatedDisk(), Options());
        using var environment = Open();
        var (file, blocks, others) = (FileOf(environment), Grow(environment, 24), Grow(other, 24));
        var tries = 0;
        Watch(call =>
        {
            if (call.Kind != DiskCallKind.Write)
                return;
            tries++;
            others.WriteWhenQuiet().Should().BeFalse();
        });
        Fill(blocks, file);
        tries.Should().BePositive();
        FileOf(other).WrittenAheadBytes.Should().Be(0);
        Fill(others, FileOf(other));
    }

    [Fact]
    public async Task A_staged_value_needs_blocks_when_it_is_committed()
    {
        using var environment = Open();
        var blocks = new WrittenBlocks(environment.Internals.Engine, _clock);
        using (var staged = await environment.StageAsync(new MemoryStream(new byte[8 * MiB]), TestContext.Current.CancellationToken))
        {
            blocks.Observe();
            blocks.AreDue.Should().BeFalse("the value may never be committed");
            using var writing = environment.BeginWrite();
            writing.CreateTree("values").Put([1], staged);
            writing.Commit();
        }

        blocks.Observe();
        blocks.AreDue.Should().BeTrue();
    }

    [Theory]
    [InlineData(0, MiB, 256 << 10)]
    [InlineData(1L << 30, MiB, 4L << 20)]
    [InlineData(1L << 28, 64L << 20, 128L << 20)]
    [InlineData(1L << 40, 64L << 20, 256L << 20)]
    [InlineData(1L << 40, long.MaxValue, 256L << 20)]
    public void The_number_of_bytes_is_limited(long fileBytes, long maxGrowthBytes, long expected) =>
        WrittenBlocks.MostBytes(fileBytes / 4096, 4096, maxGrowthBytes).Should().Be(expected);

    [Theory]
    [InlineData(DiskCallKind.Allocate)]
    [InlineData(DiskCallKind.Write)]
    public void Zeros_that_cannot_be_written_leave_the_environment_usable(object kind)
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        _disk.FailNext(call => call.Kind == (DiskCallKind)kind, DiskError.NoSpace);
        FluentActions.Invoking(() => Fill(blocks, file)).Should().Throw<StorageFullException>();
        blocks.AreDue.Should().BeFalse();
        Put(environment, 24, count: 24);
        Check(environment);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Values_that_replace_others_need_no_blocks()
    {
        using var environment = Open();
        for (var i = 0; i < 2; i++)
        {
            Put(environment, 0, count: 24);
            environment.Flush();
        }

        var pages = environment.GetStatistics().PageCount;
        var blocks = new WrittenBlocks(environment.Internals.Engine, _clock);
        for (var i = 0; i < 4; i++)
        {
            Put(environment, 0, count: 24);
            environment.Flush();
            blocks.Observe();
        }

        environment.GetStatistics().PageCount.Should().BeLessThan(pages + MiB / 4096, "the values take the pages that others have freed");
        blocks.AreDue.Should().BeFalse();
    }

    [Fact]
    public void Small_values_need_no_blocks()
    {
        using var environment = Open();
        var blocks = new WrittenBlocks(environment.Internals.Engine, _clock);
        FaultTestKit.Put(environment, 0, new byte[1_000]);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("small");
            for (var i = 0; i < 3_000; i++)
                tree.Put(BitConverter.GetBytes(i), new byte[1_000]);
            writing.Commit();
        }

        blocks.Observe();
        blocks.AreDue.Should().BeFalse("a flush writes these pages, and no commit waits for it");
    }

    [Fact]
    public void The_flusher_writes_the_blocks()
    {
        var options = Options();
        (options.BackgroundFlush, options.QuietTime) = (true, TimeSpan.Zero);
        using var environment = StorageEnvironment.Open(_disk, options);
        Put(environment, 0, count: 24);
        TestWait.Until(() => FileOf(environment).WrittenAheadBytes >= DataFile.ZeroedAtOnce, "the environment is quiet");
        Put(environment, 24, count: 24);
        Check(environment);
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static StorageOptions Options() => new()
    {
        BackgroundFlush = false,
        LargeValueBytes = 16 << 10,
        JournaledValueBytes = 0,
        ScrubInterval = Timeout.InfiniteTimeSpan,
        QuietTime = Quiet,
    };

    private static DataFile FileOf(StorageEnvironment environment) => environment.Internals.Engine.DataFile;

    private static void Put(StorageEnvironment environment, int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            using var writing = environment.BeginWrite();
            writing.CreateTree("values").Put(BitConverter.GetBytes(i), Value(i));
            writing.Commit();
        }
    }

    private static byte[] Value(int number) => Enumerable.Repeat((byte)(number + 1), ValueBytes).ToArray();

    private static void Check(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("values");
        for (var i = 0; i < tree.Count; i++)
        {
            tree.TryGet(BitConverter.GetBytes(i), out var value).Should().BeTrue();
            value.SequenceEqual(Value(i)).Should().BeTrue($"value {i} is the one that was put");
        }
    }

    // Other tests of this process may be writing blocks, and one environment does at a time.
    private static long WriteSome(WrittenBlocks blocks, DataFile file)
    {
        TestWait.Until(() => blocks.WriteWhenQuiet() || file.WrittenAheadBytes > 0, "blocks are due");
        return file.WrittenAheadBytes;
    }

    private static void Fill(WrittenBlocks blocks, DataFile file)
    {
        blocks.AreDue.Should().BeTrue();
        TestWait.Until(() => !blocks.WriteWhenQuiet() && !blocks.AreDue, "the environment is quiet");
        file.WrittenAheadBytes.Should().BePositive();
    }

    private StorageEnvironment Open() => StorageEnvironment.Open(_disk, Options());

    // Puts that many values, which are observed, and lets the time pass after which blocks are written.
    private WrittenBlocks Grow(StorageEnvironment environment, int count, bool passes = true)
    {
        var blocks = new WrittenBlocks(environment.Internals.Engine, _clock);
        Put(environment, 0, count);
        blocks.Observe();
        if (passes)
            _clock.Pass(Quiet);
        return blocks;
    }

    // Has the calls of the data file reported before they do anything.
    private void Watch(Action<DiskCall> report) => _disk.FailNext(
        call =>
        {
            if (call.Name == DataFile.FileName)
                report(call);
            return false;
        },
        DiskError.Failed,
        forever: true);

    private sealed class HandClock : TimeProvider
    {
        private long _ticks;

        public Action? Reading { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp()
        {
            Reading?.Invoke();
            return _ticks;
        }

        public void Pass(TimeSpan time) => _ticks += time.Ticks;
    }
}
