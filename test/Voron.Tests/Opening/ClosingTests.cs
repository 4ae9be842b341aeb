using Voron.IO;

namespace Voron.Tests.Opening;

[Quick]
public sealed class ClosingTests
{
    /// <summary>
    /// Closing flushes, the flush writes a list to the journal, and the journal notifies the scheduler, which must not have released its
    /// event before that.
    /// </summary>
    [Fact]
    public void Closing_with_unflushed_changes_and_without_a_background_flusher_flushes_them()
    {
        var reports = new List<FlushReport>();
        var environment = StorageEnvironment.Open(new MemoryDisk(), new StorageOptions { BackgroundFlush = false, FlushObserver = reports.Add });
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("t").Put("key"u8, "value"u8);
            writing.Commit();
        }

        environment.Dispose();
        reports.Should().ContainSingle().Which.TransactionId.Should().Be(1);
    }

    [Fact]
    public void A_reader_may_keep_some_of_the_frames_of_a_flush()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        Put(environment, "one", 1);
        using var reading = environment.BeginRead();
        Put(environment, "two", 2);

        // The reader's own version of "one" is detached and kept for the reader; the other frames that the flush has taken over are free.
        environment.Flush().Should().NotBeNull();
        environment.Invoking(opened => Put(opened, "one", 3)).Should().NotThrow();
        environment.Invoking(opened => Put(opened, "two", 4)).Should().NotThrow();
        reading.OpenTree("one").TryGet([1], out var value).Should().BeTrue();
        value[0].Should().Be(1);
        reading.TryOpenTree("two", out _).Should().BeFalse();
    }

    private static void Put(StorageEnvironment environment, string tree, byte value)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree(tree).Put([1], [value]);
        writing.Commit();
    }
}
