using System.Text;

namespace Voron.Tests.Maintenance;

public sealed class ScrubberTests
{
    [Fact]
    public void A_bit_that_flips_after_its_page_was_verified_is_found()
    {
        using var directory = new TestDirectory();
        using var found = new BlockingCollectionOfReports();
        var options = new StorageOptions { ScrubInterval = TimeSpan.FromMilliseconds(20), ScrubBytesPerSecond = 0, ScrubObserver = found.Add };
        using var environment = StorageEnvironment.Open(directory, options);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("users");
            for (var i = 0; i < 1000; i++)
                tree.Put(Encoding.ASCII.GetBytes($"key {i:D4}"), new byte[100]);
            writing.Commit();
        }

        // The scrubber itself may be reading an older state, which a flush waits for.
        while (environment.GetStatistics() is var now && now.CheckpointTransactionId != now.PublishedTransactionId)
            environment.Flush();
        found.Take().Problems.Should().BeEmpty();
        FlipBit(System.IO.Path.Combine(directory, "voron.data"), "key 0500");

        VerificationReport report;
        do
            report = found.Take();
        while (report.IsSound);
        report.Problems.Should().Contain(problem => problem.Contains("is damaged", StringComparison.Ordinal));
    }

    private static void FlipBit(string path, string marker)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
        var bytes = new byte[file.Length];
        file.ReadExactly(bytes);
        var at = bytes.AsSpan().IndexOf(Encoding.ASCII.GetBytes(marker));
        at.Should().BePositive();
        file.Position = at;
        file.WriteByte((byte)(bytes[at] ^ 1));
    }

    private sealed class BlockingCollectionOfReports : IDisposable
    {
        private readonly System.Collections.Concurrent.BlockingCollection<VerificationReport> _reports = [];

        public void Add(VerificationReport report) => _reports.Add(report);

        public VerificationReport Take()
        {
            _reports.TryTake(out var report, TimeSpan.FromSeconds(30)).Should().BeTrue("the scrubber reports every few milliseconds");
            return report!;
        }

        public void Dispose() => _reports.Dispose();
    }
}
