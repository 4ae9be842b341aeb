using Voron.Format;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>An environment that cannot be opened is refused at once, and its files are left as they are.</summary>
public sealed class OpeningTests
{
    private const string Journal = "journal-00000001.voron";

    [Fact]
    public void A_second_opening_is_refused_at_once_through_a_link_too()
    {
        using var directory = new TemporaryDirectory();
        var real = Path.Combine(directory.Path, "real");
        var link = Path.Combine(directory.Path, "link");
        using var environment = StorageEnvironment.Open(real, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        TestLinks.ToDirectory(link, real);
        foreach (var path in new[] { real, link, real + "/../real" })
        {
            var open = () => StorageEnvironment.Open(path, FaultTestKit.Options());
            open.Should().Throw<EnvironmentInUseException>().WithMessage($"*{real}*process {Environment.ProcessId}*")
                .Which.Message.Should().NotContain("Waited");
            var openForReading = () => StorageEnvironment.Open(path, new StorageOptions { ReadOnly = true });
            openForReading.Should().Throw<EnvironmentInUseException>();
        }

        FaultTestKit.Put(environment, 2, [2]);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Readers_share_a_directory_and_keep_writers_out()
    {
        using var directory = new TemporaryDirectory();
        using (var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options()))
            FaultTestKit.Put(environment, 1, [1]);
        using var first = StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = true });
        using var second = StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = true });
        FaultTestKit.Get(first, 1).Should().Equal(1);
        FaultTestKit.Get(second, 1).Should().Equal(1);
        var open = () => StorageEnvironment.Open(directory.Path);
        open.Should().Throw<EnvironmentInUseException>();
    }

    [Theory]
    [InlineData("voron.header")]
    [InlineData("voron.data")]
    [InlineData(Journal)]
    public void A_file_of_no_bytes_is_refused(string name) => ShouldBeRefused(name, _ => []);

    [Theory]
    [InlineData("voron.header")]
    [InlineData("voron.data")]
    [InlineData(Journal)]
    public void A_foreign_file_is_refused(string name) =>
        ShouldBeRefused(name, bytes => name == "voron.data" ? Repeat("SQLite format 3\0"u8, 4096) : Repeat("SQLite format 3\0"u8, bytes.Length));

    [Theory]
    [InlineData("voron.header", 4096)]
    [InlineData("voron.header", 8191)]
    [InlineData("voron.data", 4096)]
    [InlineData("voron.data", 5000)]
    [InlineData(Journal, 100)]
    [InlineData(Journal, 4096)]
    [InlineData(Journal, 8192)]
    [InlineData(Journal, 12288)]
    [InlineData(Journal, 400_000)]
    public void A_file_that_was_cut_is_refused(string name, int length) => ShouldBeRefused(name, bytes => bytes[..length]);

    [Theory]
    [InlineData("voron.header")]
    [InlineData("voron.data")]
    [InlineData(Journal)]
    public void A_missing_file_is_named_or_its_absence_is(string name)
    {
        var files = MakeFiles();
        files.Remove(name);
        var disk = FaultTestKit.DiskOf(files);
        var open = () => StorageEnvironment.Open(disk, FaultTestKit.Options());
        open.Should().Throw<VoronException>().Which.Message.Should().Contain("simulated");
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
    }

    [Fact]
    public unsafe void A_header_of_a_newer_version_is_refused_with_both_versions()
    {
        var exception = ShouldBeRefused("voron.header", bytes =>
        {
            fixed (byte* start = bytes)
            {
                for (var slot = 0; slot < 2; slot++)
                {
                    var header = (CheckpointHeader*)(start + slot * JournalFormat.Block);
                    header->Version = 77;
                    header->Checksum = Checksum.Compute((byte*)header + 16, JournalFormat.Block - 16, CheckpointHeader.FileMagic);
                }
            }

            return bytes;
        });
        exception.Should().BeOfType<UnsupportedFormatException>();
        exception.Message.Should().Contain("version 77").And.Contain(JournalFormat.KnownVersions);
    }

    [Fact]
    public unsafe void A_journal_of_a_newer_version_is_refused_with_both_versions()
    {
        var exception = ShouldBeRefused(Journal, bytes =>
        {
            fixed (byte* start = bytes)
            {
                for (var copy = 0; copy < 2; copy++)
                {
                    var header = (JournalFileHeader*)(start + copy * JournalFormat.Block);
                    header->Version = 78;
                    header->Checksum = Checksum.Compute((byte*)header + 16, JournalFormat.Block - 16, JournalFormat.FileMagic);
                }
            }

            return bytes;
        });
        exception.Should().BeOfType<UnsupportedFormatException>();
        exception.Message.Should().Contain("version 78").And.Contain(JournalFormat.KnownVersions);
    }

    [Fact]
    public void The_journal_of_another_environment_is_refused_with_both_ids()
    {
        var other = MakeFiles();
        var exception = ShouldBeRefused(Journal, _ => other[Journal]);
        exception.Should().BeOfType<UnsupportedFormatException>().Which.Message.Should().MatchRegex("[0-9A-F]{32}.*[0-9A-F]{32}");
    }

    [Fact]
    public void The_data_file_of_another_environment_gives_no_values()
    {
        var files = MakeFiles();
        files["voron.data"] = MakeFiles()["voron.data"];
        var read = () =>
        {
            using var environment = StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options());
            FaultTestKit.Get(environment, 1);
        };
        read.Should().Throw<CorruptionException>().WithMessage("*voron.data*");
    }

    [Fact]
    public void A_directory_without_an_environment_is_not_opened_for_reading()
    {
        using var directory = new TemporaryDirectory();
        var open = () => StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = true });
        open.Should().Throw<EnvironmentNotFoundException>().WithMessage($"*{directory.Path}*");
        Directory.GetFileSystemEntries(directory.Path).Should().BeEmpty();
        var openMissing = () => StorageEnvironment.Open(directory.Path + "/missing", new StorageOptions { ReadOnly = true });
        openMissing.Should().Throw<EnvironmentNotFoundException>().WithMessage("*missing*");
        Directory.Exists(directory.Path + "/missing").Should().BeFalse();
    }

    [Theory]
    [InlineData("")]
    [InlineData("/below/it")]
    public void A_file_in_the_place_of_the_directory_is_named(string below)
    {
        using var directory = new TemporaryDirectory();
        var file = Path.Combine(directory.Path, "file");
        File.WriteAllText(file, "mine");
        var open = () => StorageEnvironment.Open(file + below);
        open.Should().Throw<StorageAccessException>().WithMessage($"*'{file}' is a file, not a directory*");
        File.ReadAllText(file).Should().Be("mine");
    }

    [Fact]
    public void Opening_for_reading_changes_no_byte_and_refuses_to_write()
    {
        var files = MakeFiles();
        var disk = FaultTestKit.DiskOf(files);
        disk.IsReadOnly = true;
        using (var environment = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true }))
        {
            FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 300));
            FaultTestKit.Get(environment, 2).Should().Equal(FaultTestKit.Value(2, 300));
            environment.Verify().Problems.Should().BeEmpty();
            var write = () => environment.BeginWrite().Dispose();
            write.Should().Throw<InvalidOperationException>().WithMessage("*simulated*reading only*");
            var flush = () => environment.Flush();
            flush.Should().Throw<InvalidOperationException>();
        }

        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
    }

    [Theory]
    [InlineData("voron.header")]
    [InlineData("voron.data")]
    [InlineData(Journal)]
    public void A_file_that_may_not_be_opened_is_named(string name)
    {
        var files = MakeFiles();
        var disk = FaultTestKit.DiskOf(files);
        disk.FailNext(call => call.Kind is DiskCallKind.Open or DiskCallKind.Lock && call.Name == name, DiskError.AccessDenied, forever: true);
        var open = () => StorageEnvironment.Open(disk, FaultTestKit.Options());
        open.Should().Throw<StorageAccessException>().WithMessage($"*{name}*");
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
        disk.ClearFaults();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(environment, 2).Should().Equal(FaultTestKit.Value(2, 300));
    }

    [Fact]
    public void A_disk_that_takes_no_writes_is_read_and_refuses_to_open_for_writing()
    {
        var files = MakeFiles();
        var disk = FaultTestKit.DiskOf(files);
        disk.FailNext(
            call => call.Kind is DiskCallKind.Write or DiskCallKind.Create or DiskCallKind.Sync or DiskCallKind.SyncDirectory or DiskCallKind.Lock,
            DiskError.AccessDenied,
            forever: true);
        var open = () => StorageEnvironment.Open(disk, FaultTestKit.Options());
        open.Should().Throw<StorageAccessException>();
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
    }

    [Fact]
    public void Without_unbuffered_writes_there_is_one_warning_and_all_is_kept()
    {
        const string memory = "/dev/shm";
        Assert.SkipUnless(OperatingSystem.IsLinux(), "wants /dev/shm of Linux");

        var path = Path.Combine(memory, "voron-" + Guid.NewGuid().ToString("N"));
        try
        {
            var logger = new ListLogger();
            using (var environment = StorageEnvironment.Open(path, FaultTestKit.Options(logger)))
            {
                for (var i = 0; i < 20; i++)
                    FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 5000));
                environment.Flush();
            }

            logger.Warnings.Should().ContainSingle().Which.Should().Contain(path).And.Contain("slower");
            using var reopened = StorageEnvironment.Open(path, FaultTestKit.Options());
            for (var i = 0; i < 20; i++)
                FaultTestKit.Get(reopened, i).Should().Equal(FaultTestKit.Value(i, 5000));
        }
        finally
        {
            Directory.Delete(path, recursive: true);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_opening_that_fails_at_any_call_leaves_nothing_open(bool readOnly)
    {
        var files = MakeSnapshotFiles();
        var options = readOnly ? new StorageOptions { ReadOnly = true } : FaultTestKit.Options();
        var failures = 0;
        for (var failing = 0; ; failing++)
        {
            var disk = files.ToDisk();
            var calls = 0;
            disk.FailNext(_ => calls++ >= failing, DiskError.Failed, forever: true);
            try
            {
                StorageEnvironment.Open(disk, options).Dispose();
            }
            catch (Exception e) when (e is VoronException or DiskException)
            {
                failures++;
            }

            (disk.OpenFiles, disk.LiveMaps, disk.HeldLocks).Should().Be((0, 0, 0), "call {0} and those behind it have failed", failing);
            if (calls <= failing)
                break;
        }

        failures.Should().BeGreaterThan(20);
    }

    /// <summary>Changes one file of an environment that was killed, and expects a refusal that names it and changes no byte.</summary>
    private static VoronException ShouldBeRefused(string name, Func<byte[], byte[]> damage)
    {
        var files = MakeFiles();
        files[name] = damage((byte[])files[name].Clone());
        var disk = FaultTestKit.DiskOf(files);
        VoronException? exception = null;
        try
        {
            using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
            FaultTestKit.Get(environment, 1);
            FaultTestKit.Get(environment, 2);
        }
        catch (VoronException e)
        {
            exception = e;
        }

        exception.Should().NotBeNull("'{0}' is damaged", name);
        (exception is UnsupportedFormatException or CorruptionException).Should().BeTrue("{0}", exception!.GetType());
        exception.Message.Should().Contain("simulated").And.MatchRegex("[0-9]");
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        disk.LiveMaps.Should().Be(0);
        return exception;
    }

    private static byte[] Repeat(ReadOnlySpan<byte> text, int length)
    {
        var bytes = new byte[length];
        for (var i = 0; i < length; i++)
            bytes[i] = text[i % text.Length];
        return bytes;
    }

    /// <summary>Returns the files of an environment with value 1 in the data file and value 2 in the journal only.</summary>
    private static SortedDictionary<string, byte[]> MakeFiles()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 512 << 10 };
        using var environment = StorageEnvironment.Open(disk, options);
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 300));
        environment.Flush();
        FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 300));
        environment.Internals.ConfirmDurability();
        return FaultTestKit.Bytes(disk);
    }

    /// <summary>Returns the files of an environment with a journal snapshot, which holds what a reader keeps out of the data file.</summary>
    private static FileSet MakeSnapshotFiles()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 300));
        environment.Flush();
        using var reading = environment.BeginRead();
        FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 300));
        environment.Internals.WriteJournalSnapshot().Should().BeTrue();
        return FileSet.Of(disk);
    }
}
