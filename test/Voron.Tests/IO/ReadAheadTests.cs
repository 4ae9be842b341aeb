using System.Globalization;

namespace Voron.Tests.IO;

/// <summary>
/// Where memory is scarce, a page that is missing from a map comes without its neighbours. The system knows this when its list of maps says so.
/// </summary>
public sealed class ReadAheadTests
{
    private const long MiB = 1 << 20;

    [Fact]
    public void The_system_does_not_read_ahead_in_page_versions_that_left_memory()
    {
        SkipWithoutMapList();
        using var directory = new TestDirectory();
        using var environment = Open(directory, 16 * MiB);
        Fill(environment, "t");
        using (environment.BeginRead())
        {
            for (var round = 0; environment.GetStatistics().SpilledBytes < 8 * MiB && round < 100; round++)
                Fill(environment, "t");
            environment.GetStatistics().SpilledBytes.Should().BeGreaterThanOrEqualTo(8 * MiB);
            var maps = MapsOf(path => path.StartsWith(directory, StringComparison.Ordinal) && path.EndsWith("(deleted)", StringComparison.Ordinal));
            maps.Should().NotBeEmpty().And.OnlyContain(isRandom => isRandom);
        }
    }

    [Theory]
    [InlineData(16, true)]
    [InlineData(1024, false)]
    public void The_system_reads_ahead_in_a_data_file_for_which_there_is_memory(int limitMiB, bool expected)
    {
        SkipWithoutMapList();
        using var directory = new TestDirectory();
        using (var environment = Open(directory, limitMiB * MiB))
        {
            for (var i = 0; i < 5; i++)
                Fill(environment, string.Create(CultureInfo.InvariantCulture, $"t{i}"));
            environment.Flush();
        }

        using var again = Open(directory, limitMiB * MiB);
        MapsOf(path => path == Path.Combine(directory, "voron.data")).Should().NotBeEmpty().And.OnlyContain(isRandom => isRandom == expected);
    }

    private static void SkipWithoutMapList() => Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux lists the maps of a process.");

    private static StorageEnvironment Open(string directory, long limit) => StorageEnvironment.Open(directory, new StorageOptions
    {
        MemoryLimitBytes = limit,
        BackgroundFlush = false,
        ScrubInterval = Timeout.InfiniteTimeSpan,
    });

    // About 10 MB, in pages of the tree.
    private static void Fill(StorageEnvironment environment, string name)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(name);
        var value = new byte[1000];
        for (var i = 0; i < 10_000; i++)
            tree.Put(BitConverter.GetBytes(i), value);

        writing.Commit();
    }

    /// <summary>Returns, for each map of a file that matches, whether the system reads nothing ahead in it.</summary>
    private static List<bool> MapsOf(Func<string, bool> matches)
    {
        var found = new List<bool>();
        var path = "";
        foreach (var line in File.ReadLines("/proc/self/smaps"))
        {
            var isHead = line.Length > 0 && char.IsAsciiHexDigitLower(line[0]) && line.Contains('-', StringComparison.Ordinal);
            if (isHead)
                path = line.IndexOf('/', StringComparison.Ordinal) is >= 0 and var at ? line[at..] : "";
            else if (line.StartsWith("VmFlags:", StringComparison.Ordinal) && matches(path))
                found.Add(line.Split(' ').Contains("rr"));
        }

        return found;
    }
}
