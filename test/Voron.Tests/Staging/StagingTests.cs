using System.IO.Pipelines;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Staging;

/// <summary>A staged value is the value that was uploaded, whatever its length, its source and its disk.</summary>
public sealed class StagingTests
{
    private const int Chunk = 64 << 10;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public static TheoryData<int> Lengths =>
        [0, 1, 4095, StagingTestKit.Large - 1, StagingTestKit.Large, Chunk - 1, Chunk, Chunk + 1, 4 * Chunk, 1_000_003, 9_000_001];

    [Theory]
    [MemberData(nameof(Lengths))]
    public async Task A_value_from_a_stream_or_a_pipe_is_what_was_sent(int length)
    {
        foreach (var isUnbuffered in new[] { true, false })
        {
            var disk = new SimulatedDisk { MapsSeeUnbufferedWrites = isUnbuffered };
            var value = FaultTestKit.Value(length, length);
            using (var environment = StagingTestKit.Open(disk))
            {
                using var seekable = await environment.StageAsync(new MemoryStream(value), Cancellation);
                using var pipe = await environment.StageAsync(PipeReader.Create(new MemoryStream(value)), Cancellation);
                using var part = await environment.StageAsync(new MemoryStream([1, 2, 3, .. value]) { Position = 3 }, Cancellation);
                foreach (var staged in new[] { seekable, pipe, part })
                {
                    staged.Length.Should().Be(length);
                    staged.State.Should().Be(StagedValueState.Ready);
                }

                using (var writing = environment.BeginWrite())
                {
                    var tree = writing.CreateTree(FaultTestKit.TreeName);
                    tree.Put(FaultTestKit.Key(1), seekable);
                    tree.Put(FaultTestKit.Key(2), pipe);
                    tree.Put(FaultTestKit.Key(3), part);
                    tree.TryGet(FaultTestKit.Key(2), out var read).Should().BeTrue("a transaction reads its own values");
                    read.SequenceEqual(value).Should().BeTrue();
                    seekable.State.Should().Be(StagedValueState.InTransaction);
                    writing.Commit();
                }

                seekable.State.Should().Be(StagedValueState.Committed);
                StagingTestKit.CheckUnreserved(environment);
            }

            using var reopened = StagingTestKit.Open(disk);
            for (var key = 1; key <= 3; key++)
                StagingTestKit.Check(reopened, key, length, length);
            reopened.Verify().Problems.Should().BeEmpty();
        }
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(8192)]
    [InlineData(16384)]
    [InlineData(32768)]
    [InlineData(65536)]
    public void Every_page_size_and_every_read_verified(int pageSize)
    {
        var options = new StorageOptions
        {
            PageSize = pageSize,
            BackgroundFlush = false,
            VerifyEveryRead = true,
            LargeValueBytes = StagingTestKit.Large,
        };
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        foreach (var length in new[] { 100, StagingTestKit.Large, Chunk + 1, 700_001 })
        {
            using var staged = StagingTestKit.Stage(environment, length, length);
            environment.GetStatistics().StagedBytes.Should().Be(length < StagingTestKit.Large ? 0 : (length + pageSize - 1) / pageSize * pageSize);
            StagingTestKit.Put(environment, length, staged);
            StagingTestKit.Check(environment, length, length, length);
        }

        environment.Flush();
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public async Task An_environment_in_memory_and_one_in_a_directory()
    {
        using var directory = new TestDirectory();
        foreach (var environment in new[]
        {
            StorageEnvironment.OpenInMemory(StagingTestKit.Options()), StorageEnvironment.Open(directory, StagingTestKit.Options()),
        })
        {
            using (environment)
            {
                using var staged = await environment.StageAsync(new MemoryStream(FaultTestKit.Value(1, 3_000_000)), Cancellation);
                await environment.WriteAsync(writing => writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), staged), Cancellation);
                StagingTestKit.Check(environment, 1, 1, 3_000_000);
                environment.Flush();
                environment.ReclaimSpace();
                StagingTestKit.Check(environment, 1, 1, 3_000_000);
                StagingTestKit.CheckUnreserved(environment);
            }
        }
    }

    [Fact]
    public void The_commit_that_puts_a_staged_value_does_not_sync_the_data_file()
    {
        var disk = new SimulatedDisk();
        using var environment = StagingTestKit.Open(disk);
        FaultTestKit.Put(environment, 1, [1]);
        using var staged = StagingTestKit.Stage(environment, 2, 500_000);
        using var writing = environment.BeginWrite();
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), staged);
        var before = disk.TraceCount;
        writing.Commit();
        var dataFile = disk.FileOf(Voron.Paging.DataFile.FileName);
        for (var i = before; i < disk.TraceCount; i++)
            disk.Trace(i).File.Should().NotBe(dataFile, "the value was written and synced by its upload");
        StagingTestKit.Check(environment, 2, 2, 500_000);
    }

    [Fact]
    public void A_value_of_the_same_transaction_that_was_not_staged_is_synced()
    {
        var disk = new SimulatedDisk();
        using var environment = StagingTestKit.Open(disk);
        FaultTestKit.Put(environment, 1, [1]);
        using var staged = StagingTestKit.Stage(environment, 2, 500_000);
        using var writing = environment.BeginWrite();
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), staged);
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(3), FaultTestKit.Value(3, 100_000));
        writing.Commit();
        var image = new CrashImages(disk).BuildLost(disk.TraceCount);
        using var reopened = StagingTestKit.Open(image);
        StagingTestKit.Check(reopened, 2, 2, 500_000);
        StagingTestKit.Check(reopened, 3, 3, 100_000);
    }

    [Fact]
    public void The_space_of_values_that_were_overwritten_is_used_again()
    {
        using var environment = StagingTestKit.Open();
        for (var round = 0; round < 3; round++)
        {
            using var staged = StageKnown(environment, round, 2_000_000);
            StagingTestKit.Put(environment, 1, staged);
            environment.Flush();
        }

        var pages = environment.GetStatistics().PageCount;
        for (var round = 0; round < 10; round++)
        {
            using var staged = StageKnown(environment, round, 2_000_000);
            StagingTestKit.Put(environment, 1, staged);
            environment.Flush();
            StagingTestKit.Check(environment, 1, round, 2_000_000);
        }

        environment.GetStatistics().PageCount.Should().Be(pages, "each upload finds the pages of the value before the last one");
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public void A_reader_keeps_the_value_that_was_overwritten()
    {
        using var environment = StagingTestKit.Open();
        using (var first = StagingTestKit.Stage(environment, 1, 300_000))
            StagingTestKit.Put(environment, 1, first);
        environment.Flush();
        using (var reading = environment.BeginRead())
        {
            for (var round = 2; round < 6; round++)
            {
                using var staged = StagingTestKit.Stage(environment, round, 300_000);
                StagingTestKit.Put(environment, 1, staged);
                environment.Flush();
            }

            reading.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(1), out var value).Should().BeTrue();
            value.SequenceEqual(FaultTestKit.Value(1, 300_000)).Should().BeTrue("no upload may use pages that a snapshot reads");
        }

        StagingTestKit.Check(environment, 1, 5, 300_000);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public void An_upload_grows_in_place_at_the_end_of_the_file_and_moves_elsewhere()
    {
        using var environment = StagingTestKit.Open();
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        var other = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        var value = FaultTestKit.Value(1, 2_000_000);
        var first = environment.StageAsync(pipe.Reader, Cancellation).AsTask();
        var second = environment.StageAsync(other.Reader, Cancellation).AsTask();
        for (var at = 0; at < value.Length; at += 50_000)
        {
            var length = Math.Min(50_000, value.Length - at);
            StagingTestKit.Wait(pipe.Writer.WriteAsync(value.AsMemory(at, length), Cancellation));
            StagingTestKit.Wait(other.Writer.WriteAsync(value.AsMemory(at, length), Cancellation));
        }

        pipe.Writer.Complete();
        other.Writer.Complete();
        StagingTestKit.Put(environment, 1, StagingTestKit.Wait(first));
        StagingTestKit.Put(environment, 2, StagingTestKit.Wait(second));
        StagingTestKit.Check(environment, 1, 1, value.Length);
        StagingTestKit.Check(environment, 2, 1, value.Length);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public void A_stream_that_is_longer_or_shorter_than_it_says_is_stored_as_it_is()
    {
        using var environment = StagingTestKit.Open();
        foreach (var (known, length) in new[] { (100, 200_000L), (30_000, 400_000), (600_000, 90_000), (600_000, 10) })
        {
            var pipe = PipeReader.Create(new MemoryStream(FaultTestKit.Value(known, (int)length)));
            using var staged = StagingTestKit.Wait(environment.UploadAsync(pipe, known, int.MaxValue, Cancellation));
            staged.Length.Should().Be(length);
            environment.GetStatistics().StagedBytes.Should().BeLessThan(length + 4096, "pages that are not needed are given back");
            StagingTestKit.Put(environment, known, staged);
            StagingTestKit.Check(environment, known, known, (int)length);
        }

        StagingTestKit.CheckUnreserved(environment);
    }

    // The stream says how long it is, so the upload asks for exactly as many pages.
    private static StagedValue StageKnown(StorageEnvironment environment, int seed, int length) =>
        StagingTestKit.Wait(environment.StageAsync(new MemoryStream(FaultTestKit.Value(seed, length)), Cancellation));
}
