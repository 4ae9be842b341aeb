namespace Voron.Tests.Model;

/// <summary>A reader that stays open for long costs one version a page, and a journal of bounded length.</summary>
public sealed class LongReaderTests(ITestOutputHelper output)
{
    private const int Keys = 3000;
    private const long JournalLimit = 4 << 20;

    [Fact]
    public void The_journal_stays_bounded_and_everything_goes_back_when_the_reader_ends()
    {
        var directory = Directory.CreateTempSubdirectory("voron-reader-").FullName;
        try
        {
            using var environment = StorageEnvironment.Open(directory, Options());
            Update(environment, 0, 0, Keys);
            using (var reading = environment.BeginRead())
            {
                var largest = 0L;
                var most = 0L;
                var version = 0;
                while (environment.GetStatistics().JournalBytes < 6 * JournalLimit)
                {
                    version++;
                    for (var from = 0; from < Keys; from += Keys / 6)
                        Update(environment, version, from, from + Keys / 6);
                    largest = Math.Max(largest, JournalBytes(directory));
                    most = Math.Max(most, environment.GetStatistics().PageVersions);
                    CheckVersion(reading, 0);
                }

                var held = environment.GetStatistics();
                output.WriteLine($"{version} rounds, {held.Rewrites} rewrites, {held.BackPressureWaits} waits, journals of {largest} bytes at most, {most} versions at most");
                held.Rewrites.Should().BeGreaterThanOrEqualTo(3);
                largest.Should().BeLessThan(3 * JournalLimit);
                most.Should().BeLessThan(8 * held.PageCount);
                held.DataFileBytes.Should().BeLessThan(16 << 20, "a reader does not make the data file grow");
                environment.Verify().Problems.Should().BeEmpty();
                CheckVersion(reading, 0);
                using var now = environment.BeginRead();
                CheckVersion(now, version);
            }

            GoBack(environment, directory);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public void What_stands_in_a_rewrite_file_is_there_after_reopening()
    {
        var directory = Directory.CreateTempSubdirectory("voron-reader-").FullName;
        try
        {
            var version = 0;
            for (var opening = 0; opening < 3; opening++)
            {
                var environment = StorageEnvironment.Open(directory, Options());
                Update(environment, ++version, 0, Keys);
                using var reading = environment.BeginRead();
                var held = version;
                for (var rewrites = environment.GetStatistics().Rewrites; environment.GetStatistics().Rewrites < rewrites + 2;)
                    Update(environment, ++version, 0, Keys);
                Update(environment, ++version, 0, Keys);
                environment.Dispose();
                Directory.GetFiles(directory, "rewrite-*").Should().HaveCount(1);
                CheckVersion(reading, held);
                reading.Dispose();

                using var again = StorageEnvironment.Open(directory, Options());
                using var now = again.BeginRead();
                CheckVersion(now, version);
                again.Verify().Problems.Should().BeEmpty();
            }
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    // The flush after the reader's end takes everything home; the next writer gives back what it kept.
    private static void GoBack(StorageEnvironment environment, string directory)
    {
        environment.Flush();
        using (var writing = environment.BeginWrite())
            writing.Dispose();
        environment.Flush();
        using (var writing = environment.BeginWrite())
            writing.Dispose();
        var statistics = environment.GetStatistics();
        statistics.PageVersions.Should().Be(0);
        statistics.ScratchBytes.Should().Be(0);
        statistics.LiveJournalBytes.Should().BeLessThan(JournalLimit / 2);
        Directory.GetFiles(directory, "rewrite-*").Should().BeEmpty();
        environment.Verify().Problems.Should().BeEmpty();
    }

    // Files come and go while they are counted: one that has gone has no bytes.
    private static long JournalBytes(string directory)
    {
        long bytes = 0;
        foreach (var file in new DirectoryInfo(directory).GetFiles("journal*"))
        {
            try
            {
                bytes += file.Length;
            }
            catch (FileNotFoundException)
            {
            }
        }

        return bytes;
    }

    private static void Update(StorageEnvironment environment, int version, int from, int to)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("updated");
        for (var key = from; key < to; key++)
            tree.Put(BitConverter.GetBytes(key), Value(version, key));
        tree.Put([0, 0, 0, 0, 1], BitConverter.GetBytes(version));
        writing.Commit();
    }

    private static void CheckVersion(ReadTransaction reading, int version)
    {
        var tree = reading.OpenTree("updated");
        tree.Count.Should().Be(Keys + 1);
        for (var key = 0; key < Keys; key++)
        {
            tree.TryGet(BitConverter.GetBytes(key), out var value).Should().BeTrue();
            if (!value.SequenceEqual(Value(version, key)))
                Assert.Fail($"key {key} is not of version {version}");
        }
    }

    private static byte[] Value(int version, int key)
    {
        var value = new byte[100 + key % 50];
        new Random(version * 100_003 + key).NextBytes(value);
        return value;
    }

    private static StorageOptions Options() => new()
    {
        FlushThresholdBytes = 256 << 10,
        FlushInterval = TimeSpan.FromMilliseconds(50),
        InitialJournalFileBytes = 512 << 10,
        MaxJournalFileBytes = 512 << 10,
        JournalLimitBytes = JournalLimit,
        JournalCompression = JournalCompression.Never,
        MaxGrowthBytes = 1 << 20,
    };
}
