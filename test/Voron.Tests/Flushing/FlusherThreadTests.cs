using Voron.Simulation.Disks;

namespace Voron.Tests.Flushing;

public sealed class FlusherThreadTests
{
    [Fact]
    public void An_exception_of_an_observer_on_the_flusher_s_thread_ends_nothing()
    {
        using var flushed = new ManualResetEventSlim();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            FlushInterval = TimeSpan.FromMilliseconds(10),
            FlushObserver = _ =>
            {
                flushed.Set();
                throw new NotSupportedException("thrown by an observer");
            },
        });
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("users").Put("a"u8, "b"u8);
            writing.Commit();
        }

        flushed.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        flushed.Reset();
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree("users").Put("c"u8, "d"u8);
            writing.Commit();
        }

        flushed.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue("the flusher continues");
        using var reading = environment.BeginRead();
        reading.OpenTree("users").Contains("a"u8).Should().BeTrue();
    }

    /// <summary>
    /// A freed page has a version of 64 bytes, and no frame, until it is flushed: 13 million of them took 800 MB, limited only by the speed
    /// of the flusher.
    /// </summary>
    [Fact]
    public void Versions_of_freed_pages_count_towards_the_limit_of_scratch()
    {
        const int Values = 80;
        const int ValueBytes = 4 << 20;
        var disk = new SparseDisk(1L << 30);
        try
        {
            using var reported = new ManualResetEventSlim();
            using var environment = StorageEnvironment.Open(disk, new StorageOptions
            {
                ScratchMemoryBytes = 4 << 20,
                ScratchLimitBytes = 4 << 20,
                ScrubInterval = Timeout.InfiniteTimeSpan,
                SlowReaderObserver = _ => reported.Set(),
            });
            for (var i = 0; i < Values; i++)
            {
                using var writing = environment.BeginWrite();
                writing.CreateTree("values").Put([(byte)i], new byte[ValueBytes]);
                writing.Commit();
            }

            while (environment.GetStatistics().PageVersions > 0)
                environment.Flush();
            var before = environment.GetStatistics().BackPressureWaits;

            // Versions that this reader keeps from being flushed stay in memory.
            using (environment.BeginRead())
            {
                for (var i = 0; i < Values; i++)
                {
                    using var writing = environment.BeginWrite();
                    writing.OpenTree("values").Delete([(byte)i]).Should().BeTrue();
                    writing.Commit();
                    if (environment.GetStatistics().BackPressureWaits > before)
                        break;
                }

                var held = environment.GetStatistics();
                held.BackPressureWaits.Should().BeGreaterThan(before);
                held.PageVersions.Should().BeInRange((4 << 20) / 64 * 9 / 10, (4 << 20) / 64 + 3 * ValueBytes / 4096);
                reported.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue("the reader blocks the flush");
            }
        }
        finally
        {
            disk.Release();
        }
    }
}
