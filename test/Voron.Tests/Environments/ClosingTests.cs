using Voron.IO;

namespace Voron.Tests.Environments;

public sealed class ClosingTests
{
    /// <summary>
    /// Closing flushes, the flush writes a list to the journal, and the journal tells the scheduler of it: which must not have
    /// let go of its event before.
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
}
