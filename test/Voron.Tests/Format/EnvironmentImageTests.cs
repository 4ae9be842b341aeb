using System.IO.Compression;
using Voron.Format;
using Voron.Paging;
using Voron.Tests.Faults;

namespace Voron.Tests.Format;

/// <summary>Directories that engines of each format version have written, as they were on disk, stay readable for ever.</summary>
/// <remarks>
/// Each archive has two directories: <c>closed</c>, and <c>open</c>, a copy of the files of an open environment with a checkpoint and two
/// transactions behind it. The first one was written by the last engine that knew only version 1. No archive is ever replaced.
/// </remarks>
public sealed class EnvironmentImageTests
{
    [Theory]
    [InlineData(1, "open")]
    [InlineData(1, "closed")]
    [InlineData(2, "open")]
    [InlineData(2, "closed")]
    public void The_files_of_an_earlier_engine_are_read_and_continued(int version, string directory)
    {
        var files = Files(version, directory);
        var readOnly = FaultTestKit.DiskOf(files);
        readOnly.IsReadOnly = true;
        using (var environment = StorageEnvironment.Open(readOnly, new StorageOptions { ReadOnly = true }))
        {
            environment.Internals.Engine.Format.Version.Should().Be((uint)version);
            Check(environment);
        }

        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(readOnly), files);
        var disk = FaultTestKit.DiskOf(files);
        for (var round = 1; round <= 3; round++)
        {
            using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
            Check(environment);
            for (var earlier = 1; earlier < round; earlier++)
                FaultTestKit.Get(environment, 5000 + earlier).Should().Equal(Value(earlier, 3_000));
            FaultTestKit.Put(environment, 5000 + round, Value(round, 3_000));
            environment.Internals.Engine.Format.Version.Should().Be((uint)version, "nothing has asked for another version");
        }
    }

    [Theory]
    [InlineData("open")]
    [InlineData("closed")]
    public void The_files_of_version_1_become_ones_of_version_2(string directory)
    {
        var disk = FaultTestKit.DiskOf(Files(1, directory));
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            environment.Internals.UpgradeFormat().Should().BeTrue();
            FaultTestKit.Put(environment, 5001, Value(1, 3_000));
            disk = FaultTestKit.DiskOf(FaultTestKit.Bytes(disk));
        }

        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            environment.Internals.Engine.Format.Version.Should().Be(JournalFormat.Version);
            Check(environment);
            FaultTestKit.Get(environment, 5001).Should().Equal(Value(1, 3_000));
        }
    }

    private static SortedDictionary<string, byte[]> Files(int version, string directory)
    {
        var files = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        using var archive = ZipFile.OpenRead(SourceTree.File($"test/Voron.Tests/Format/Images/environment-version-{version}.zip"));
        foreach (var entry in archive.Entries.Where(entry => entry.FullName.StartsWith(directory + "/", StringComparison.Ordinal)))
        {
            using var stream = entry.Open();
            using var bytes = new MemoryStream();
            stream.CopyTo(bytes);
            files.Add(entry.Name, bytes.ToArray());
        }

        files.Should().ContainKeys(HeaderFile.FileName, DataFile.FileName);
        return files;
    }

    private static void Check(StorageEnvironment environment)
    {
        environment.Verify().Problems.Should().BeEmpty();
        for (var i = 0; i < 160; i++)
        {
            if (i is >= 20 and < 40)
                FaultTestKit.Get(environment, i).Should().BeNull();
            else
                FaultTestKit.Get(environment, i).Should().Equal(Value(i, 150));
        }

        foreach (var from in new[] { 0, 100 })
        {
            FaultTestKit.Get(environment, 1000 + from).Should().Equal(Value(from + 1, 5_000));
            FaultTestKit.Get(environment, 2000 + from).Should().Equal(Value(from + 2, 20_000));
            FaultTestKit.Get(environment, 3000 + from).Should().Equal(Value(from + 3, 150_000));
            using var reading = environment.BeginRead();
            reading.OpenTree("état").Get(FaultTestKit.Key(from)).Should().Equal(Value(from, 1));
        }
    }

    private static byte[] Value(int seed, int length)
    {
        var bytes = new byte[length];
        for (var i = 0; i < length; i++)
            bytes[i] = (byte)(seed * 31 + i / 40);
        return bytes;
    }
}
