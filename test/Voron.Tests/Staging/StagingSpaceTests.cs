using System.IO.Pipelines;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Staging;

/// <summary>Reserved pages are neither used nor returned while a value is staged, and are both as soon as it is disposed, or after a crash.</summary>
public sealed class StagingSpaceTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public void Free_space_that_is_reserved_is_not_returned_until_it_is_free_again()
    {
        var disk = new SimulatedDisk();
        using var environment = StagingTestKit.Open(disk);
        FaultTestKit.Put(environment, 1, [1]);
        var staged = StagingTestKit.Stage(environment, 2, 9_000_000);
        environment.Flush();
        environment.ReclaimSpace();
        var bytes = environment.GetStatistics().DataFileBytes;
        bytes.Should().BeGreaterThan(9_000_000);
        StagingTestKit.Put(environment, 2, staged);
        StagingTestKit.Check(environment, 2, 2, 9_000_000);

        var abandoned = StagingTestKit.Stage(environment, 3, 9_000_000);
        environment.ReclaimSpace();
        environment.GetStatistics().DataFileBytes.Should().BeGreaterThan(18_000_000);
        abandoned.Dispose();
        environment.ReclaimSpace().Should().BeGreaterThan(8_000_000);
        environment.GetStatistics().DataFileBytes.Should().BeLessThan(bytes + (2 << 20));
        StagingTestKit.Check(environment, 2, 2, 9_000_000);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public void Pages_between_those_in_use_are_not_punched_below_an_upload()
    {
        var disk = new SimulatedDisk();
        using var environment = StagingTestKit.Open(disk);
        for (var i = 0; i < 40; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 200_000));
        environment.Flush();
        for (var i = 0; i < 40; i += 2)
            StagingTestKit.Delete(environment, i);
        environment.Flush();
        var pages = environment.GetStatistics().PageCount;
        var staged = Enumerable.Range(0, 10)
            .Select(i => environment.StageAsync(new MemoryStream(FaultTestKit.Value(1000 + i, 150_000))).AsTask().GetAwaiter().GetResult()).ToArray();
        environment.GetStatistics().PageCount.Should().Be(pages, "the uploads use the gaps");
        environment.ReclaimSpace();
        for (var i = 0; i < 10; i++)
            FaultTestKit.Put(environment, 500 + i, FaultTestKit.Value(500 + i, 190_000));
        environment.Flush();
        environment.ReclaimSpace();
        for (var i = 0; i < 10; i++)
        {
            StagingTestKit.Put(environment, 1000 + i, staged[i]);
            StagingTestKit.Check(environment, 1000 + i, 1000 + i, 150_000);
            StagingTestKit.Check(environment, 500 + i, 500 + i, 190_000);
        }

        for (var i = 1; i < 40; i += 2)
            StagingTestKit.Check(environment, i, i, 200_000);
        StagingTestKit.CheckUnreserved(environment);

        // Every page in use has blocks, so a flush needs no room.
        disk.SpaceLimit = disk.UsedBytes + (1 << 20);
        environment.Flush();
    }

    [Fact]
    public void A_transaction_that_fills_a_section_leaves_reserved_pages_alone()
    {
        using var environment = StagingTestKit.Open();
        FaultTestKit.Put(environment, 1, [1]);
        using var staged = StagingTestKit.Stage(environment, 2, 500_000);
        for (var i = 0; i < 4; i++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree($"small {i}");
            for (var key = 0; key < 3000; key++)
                tree.Put(FaultTestKit.Key(key), FaultTestKit.Value(key, 700));
            writing.Commit();
            environment.Flush();
        }

        StagingTestKit.Put(environment, 2, staged);
        StagingTestKit.Check(environment, 2, 2, 500_000);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void After_a_crash_a_staged_value_is_there_if_its_transaction_was_acknowledged_and_leaves_free_space_otherwise(bool isUnbuffered)
    {
        var disk = new SimulatedDisk { MapsSeeUnbufferedWrites = isUnbuffered };
        using var environment = StagingTestKit.Open(disk);
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100_000));
        StagingTestKit.Delete(environment, 1);
        environment.Flush();
        var begun = disk.TraceCount;
        var abandoned = StagingTestKit.Stage(environment, 2, 300_000);
        var put = StagingTestKit.Stage(environment, 3, 400_000);
        var uploading = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        var upload = environment.StageAsync(uploading.Reader, Cancellation).AsTask();
        StagingTestKit.Wait(uploading.Writer.WriteAsync(FaultTestKit.Value(4, 200_000), Cancellation));
        StagingTestKit.WaitUntil(() => environment.GetStatistics().StagedBytes > 850_000, "the third upload is under way");
        StagingTestKit.Put(environment, 3, put);
        var acknowledged = disk.TraceCount;
        environment.Flush();
        var end = disk.TraceCount;

        var images = new CrashImages(disk);
        var random = new Random(5);
        for (var cut = begun; cut <= end; cut++)
        {
            foreach (var image in new[] { images.BuildLost(cut), images.Build(cut, random), images.BuildKilled(cut) })
            {
                using var survived = StagingTestKit.Open(image);
                if (cut >= acknowledged || FaultTestKit.Get(survived, 3) != null)
                    StagingTestKit.Check(survived, 3, 3, 400_000);
                FaultTestKit.Get(survived, 2).Should().BeNull();
                var report = survived.Verify();
                report.Problems.Should().BeEmpty();
                var used = FaultTestKit.Get(survived, 3) == null ? 40 : 140;
                report.UsedPages.Should().BeLessThan(used, "nothing of the other uploads is in use");
            }
        }

        abandoned.Dispose();
        uploading.Writer.Complete();
        using var late = StagingTestKit.Wait(upload);
        StagingTestKit.Put(environment, 4, late);
        StagingTestKit.Check(environment, 4, 4, 200_000);
        StagingTestKit.CheckUnreserved(environment);
    }
}
