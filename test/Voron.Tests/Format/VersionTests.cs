using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Format;

/// <summary>Environments of format version 1 are used as they are, and become ones of version 2 when that is needed.</summary>
[Quick]
public sealed class VersionTests
{
    private const int PageSize = 4096;
    private const int HeaderEndInVersion1 = 264;

    [Fact]
    public void A_new_environment_has_version_2_and_a_lineage()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, [1]);
            environment.Internals.UpgradeFormat().Should().BeFalse("it has the newest version");
        }

        var header = Slot(disk, 0);
        header.Version.Should().Be(JournalFormat.Version);
        header.Features.Should().Be(FormatFeatures.None);
        header.Lineage.Id.Should().NotBe(default(RandomId));
        header.Lineage.Parent.Should().Be(default(RandomId));
        Journals(disk).Should().OnlyContain(journal => journal.Version == JournalFormat.Version && journal.Lineage.Equals(header.Lineage));
    }

    [Fact]
    public void An_environment_of_version_1_is_written_in_version_1()
    {
        var disk = new SimulatedDisk();
        for (var round = 0; round < 3; round++)
        {
            using var environment = StorageEnvironment.Open(disk, round == 0 ? Version1() : FaultTestKit.Options());
            Work(environment, round, crashes: false);
        }

        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            Check(environment, rounds: 3);
            ShouldBeVersion1(disk);
            environment.GetStatistics().CommittedTransactions.Should().Be(0);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_upgrade_keeps_everything(bool crashes)
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Version1()))
        {
            Work(environment, 0, crashes: true);
            environment.Internals.UpgradeFormat().Should().BeTrue();
            environment.Internals.UpgradeFormat().Should().BeFalse();
            Slot(disk, 0).Should().Be(Slot(disk, 1));
            Slot(disk, 0).Version.Should().Be(JournalFormat.Version);
            Journals(disk).Should().OnlyContain(journal => journal.Version == JournalFormat.Version1, "no record of version 2 has been written");

            // A reader that began before, and a flush after it, with records of both versions in the journal.
            using (environment.BeginRead())
                Work(environment, 1, crashes: true);
            environment.Flush();
            Work(environment, 2, crashes: true);
            Journals(disk).Should().Contain(journal => journal.Version == JournalFormat.Version && journal.Lineage.Id != default);
            if (crashes)
                disk = FaultTestKit.DiskOf(FaultTestKit.Bytes(disk));
        }

        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            Check(environment, rounds: 3);
            environment.Internals.Engine.Format.Version.Should().Be(JournalFormat.Version);
            Work(environment, 3, crashes: false);
        }

        using (var environment = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true }))
            Check(environment, rounds: 4);
    }

    [Fact]
    public void Either_slot_alone_has_the_version_of_an_upgrade()
    {
        for (var damaged = 0; damaged < CheckpointHeader.Slots; damaged++)
        {
            var disk = new SimulatedDisk();
            using (var environment = StorageEnvironment.Open(disk, Version1()))
            {
                Work(environment, 0, crashes: true);
                environment.Internals.UpgradeFormat();
            }

            var files = FaultTestKit.Bytes(disk);
            files[HeaderFile.FileName][damaged * JournalFormat.Block + 100] ^= 1;
            using var again = StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options());
            Check(again, rounds: 1);
            again.Internals.Engine.Format.Version.Should().Be(JournalFormat.Version);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void An_upgrade_that_was_cut_short_is_completed_by_the_next_opening(int written)
    {
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> files;
        using (var environment = StorageEnvironment.Open(disk, Version1()))
        {
            Work(environment, 0, crashes: true);
            files = FaultTestKit.Bytes(disk);
        }

        // Both slots have the same checkpoint, and one of them version 2.
        var header = files[HeaderFile.FileName];
        var blocks = new[] { header[..JournalFormat.Block], header[JournalFormat.Block..] };
        var newer = blocks.MaxBy(block => Load(block).CheckpointNumber)!;
        newer.CopyTo(header.AsSpan((1 - written) * JournalFormat.Block));
        InVersion2(newer).CopyTo(header.AsSpan(written * JournalFormat.Block));

        var half = FaultTestKit.DiskOf(files);
        Slot(half, 1 - written).Version.Should().Be(JournalFormat.Version1);
        using (var environment = StorageEnvironment.Open(half, FaultTestKit.Options()))
        {
            environment.Internals.Engine.Format.Version.Should().Be(JournalFormat.Version);
            Slot(half, 1 - written).Should().Be(Slot(half, written), "the opening writes the other slot");
            Check(environment, rounds: 1);
        }
    }

    [Fact]
    public void A_header_of_version_1_beside_a_journal_of_version_2_is_refused()
    {
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> files;
        using (var environment = StorageEnvironment.Open(disk, Version1()))
        {
            Work(environment, 0, crashes: true);
            var header = FaultTestKit.Bytes(disk)[HeaderFile.FileName];
            environment.Internals.UpgradeFormat();
            Work(environment, 1, crashes: true);
            files = FaultTestKit.Bytes(disk);
            files[HeaderFile.FileName] = header;
        }

        var open = () => StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options());
        open.Should().Throw<CorruptionException>().WithMessage("*has format version 2*header of the environment has version 1*");
    }

    [Theory]
    [InlineData((uint)FormatFeatures.FeedHistory, "FeedHistory")]
    [InlineData((uint)(FormatFeatures.IdSets | FormatFeatures.ChangeLog | FormatFeatures.FeedHistory), "ChangeLog, FeedHistory")]
    [InlineData(0x8000_0000, "2147483648 (bits 80000000)")]
    public void An_environment_with_an_unknown_feature_is_refused_by_name(uint features, string name)
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
            FaultTestKit.Put(environment, 1, [1]);
        var files = FaultTestKit.Bytes(disk);
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            var block = files[HeaderFile.FileName].AsSpan(slot * JournalFormat.Block, JournalFormat.Block);
            MemoryMarshal.AsRef<CheckpointHeader>(block).Features = (FormatFeatures)features;
            MemoryMarshal.AsRef<CheckpointHeader>(block).Checksum = Checksum.Compute(block[16..], CheckpointHeader.FileMagic);
        }

        var before = FaultTestKit.DiskOf(files);
        var open = () => StorageEnvironment.Open(before, FaultTestKit.Options());
        open.Should().Throw<UnsupportedFormatException>().WithMessage($"*uses features that this program does not know: {name}*");
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(before), files);
    }

    [Fact]
    public void The_time_of_a_commit_never_falls()
    {
        var logger = new ListLogger();
        var clock = new SetClock { Now = new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.Zero) };
        var disk = new SimulatedDisk();
        var first = clock.Now;
        using (var environment = StorageEnvironment.Open(disk, WithClock(logger, clock)))
        {
            CommitTime(environment, 1).Should().Be(first);
            clock.Now = first.AddMilliseconds(-500);
            CommitTime(environment, 2).Should().Be(first);
            FaultTestKit.WarningsOf(environment, logger).Should().BeEmpty("half a second is an adjustment");
            clock.Now = first.AddHours(-1);
            CommitTime(environment, 3).Should().Be(first);
            CommitTime(environment, 4).Should().Be(first);
            FaultTestKit.WarningsOf(environment, logger).Should().ContainSingle()
                .Which.Should().Contain("2026-01-02T02:04:05").And.Contain("2026-01-02T03:04:05");
            clock.Now = first.AddSeconds(1);
            CommitTime(environment, 5).Should().Be(clock.Now);
        }

        clock.Now = first.AddDays(-1);
        using (var environment = StorageEnvironment.Open(disk, WithClock(logger, clock)))
            CommitTime(environment, 6).Should().Be(first.AddSeconds(1), "the closed environment has the time of its last commit");
        logger.Warnings.Should().HaveCount(2);
    }

    /// <summary>A commit time never falls: all later commits had the wrong time, for ever.</summary>
    [Fact]
    public void One_wrong_reading_of_the_clock_is_no_time_of_a_commit()
    {
        var clock = new SetClock { Now = new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.Zero) };
        var first = clock.Now;
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), WithClock(new ListLogger(), clock));
        CommitTime(environment, 1).Should().Be(first);
        clock.Now = first.AddYears(74);
        CommitTime(environment, 2).Should().BeOnOrAfter(first).And.BeBefore(first.AddDays(1));
        clock.Now = first.AddHours(1);
        CommitTime(environment, 3).Should().Be(clock.Now);
    }

    [Fact]
    public void Pages_have_the_mark_of_their_tree_and_a_transaction()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            Work(environment, 0, crashes: true);
            environment.Flush();
            Work(environment, 1, crashes: false);
            environment.Verify().Problems.Should().BeEmpty();
        }

        var data = FaultTestKit.Bytes(disk)[DataFile.FileName];
        var state = Slot(disk, 0).State;
        var marks = new HashSet<uint>();
        for (var page = 0L; page < state.PageCount; page++)
        {
            var header = MemoryMarshal.Read<PageHeader>(data.AsSpan((int)(page * PageSize)));
            if (header.PageNumber != page || header.Kind is not (PageKind.Leaf or PageKind.Branch))
                continue;
            marks.Add(header.TreeMark);
            header.TransactionId.Should().BeInRange(1, state.TransactionId);
        }

        // The catalog has the id 0, and the two trees those that follow.
        marks.Should().BeEquivalentTo([1u, 2u, 3u]);
    }

    [Fact]
    public void Nothing_believes_the_transaction_of_a_page()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
            Work(environment, 0, crashes: false);
        var files = FaultTestKit.Bytes(disk);
        var data = files[DataFile.FileName];
        for (var page = 0; page < data.Length / PageSize; page++)
        {
            // Pages inside extents have no header.
            if (MemoryMarshal.Read<PageHeader>(data.AsSpan(page * PageSize)).PageNumber == page)
                data.AsSpan(page * PageSize + 24, 8).Fill(0x7F);
        }

        using var again = StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options());
        Check(again, rounds: 1);
    }

    private static StorageOptions Version1()
    {
        var options = FaultTestKit.Options();
        options.FormatVersion = (int)JournalFormat.Version1;
        return options;
    }

    private static StorageOptions WithClock(ListLogger logger, TimeProvider clock)
    {
        var options = FaultTestKit.Options(logger);
        options.CommitClock = clock;
        return options;
    }

    private static DateTimeOffset CommitTime(StorageEnvironment environment, int key)
    {
        FaultTestKit.Put(environment, key, [(byte)key]);
        using var reading = environment.BeginRead();
        return new DateTimeOffset(reading.Body.Snapshot.State.CommitTime, TimeSpan.Zero);
    }

    // Enough entries for branches, overflow values and direct values, in two trees; some of it flushed.
    private static void Work(StorageEnvironment environment, int round, bool crashes)
    {
        for (var part = 0; part < 3; part++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = 0; i < 100; i++)
                tree.Put(FaultTestKit.Key(round * 1000 + part * 100 + i), FaultTestKit.Value(i, 200));
            tree.Put(FaultTestKit.Key(round * 1000 + 900 + part), FaultTestKit.Value(part, 5_000 + part * 20_000));
            writing.CreateTree("other").Put(FaultTestKit.Key(round), [(byte)part]);
            writing.Commit();
            if (part == 0 || !crashes)
                environment.Flush();
        }
    }

    private static void Check(StorageEnvironment environment, int rounds)
    {
        environment.Verify().Problems.Should().BeEmpty();
        for (var round = 0; round < rounds; round++)
        {
            for (var part = 0; part < 3; part++)
            {
                for (var i = 0; i < 100; i += 7)
                    FaultTestKit.Get(environment, round * 1000 + part * 100 + i).Should().Equal(FaultTestKit.Value(i, 200));
                FaultTestKit.Get(environment, round * 1000 + 900 + part).Should().Equal(FaultTestKit.Value(part, 5_000 + part * 20_000));
            }
        }
    }

    private static CheckpointHeader Slot(SimulatedDisk disk, int slot)
    {
        var block = FaultTestKit.Bytes(disk)[HeaderFile.FileName].AsSpan(slot * JournalFormat.Block, JournalFormat.Block);
        return Load(block);
    }

    private static unsafe CheckpointHeader Load(ReadOnlySpan<byte> block)
    {
        fixed (byte* bytes = block)
            return CheckpointHeader.Load(bytes);
    }

    private static unsafe byte[] InVersion2(ReadOnlySpan<byte> block)
    {
        var header = Load(block);
        header.Version = JournalFormat.Version;
        header.Lineage = new Lineage { Id = RandomId.New() };
        var result = new byte[JournalFormat.Block];
        fixed (byte* bytes = result)
            header.Store(bytes);
        MemoryMarshal.AsRef<CheckpointHeader>(result.AsSpan()).Checksum = Checksum.Compute(result.AsSpan(16), CheckpointHeader.FileMagic);
        return result;
    }

    private static List<JournalFileHeader> Journals(SimulatedDisk disk) =>
    [
        .. FaultTestKit.Bytes(disk).Where(file => JournalFile.IndexOf(file.Key) >= 0)
            .Select(file => MemoryMarshal.Read<JournalFileHeader>(file.Value)),
    ];

    private static void ShouldBeVersion1(SimulatedDisk disk)
    {
        var files = FaultTestKit.Bytes(disk);
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            var block = files[HeaderFile.FileName].AsSpan(slot * JournalFormat.Block, JournalFormat.Block);
            MemoryMarshal.Read<CheckpointHeader>(block).Version.Should().Be(JournalFormat.Version1);
            block[HeaderEndInVersion1..].ContainsAnyExcept((byte)0).Should().BeFalse();
        }

        foreach (var (name, bytes) in files.Where(file => JournalFile.IndexOf(file.Key) >= 0))
        {
            MemoryMarshal.Read<JournalFileHeader>(bytes).Version.Should().Be(JournalFormat.Version1);
            bytes.AsSpan(80, 48).ContainsAnyExcept((byte)0).Should().BeFalse();
            for (var offset = JournalFormat.FirstRecordOffset; offset < bytes.Length; offset += JournalFormat.Block)
            {
                var record = MemoryMarshal.Read<RecordHeader>(bytes.AsSpan(offset));
                if (record.Marker == JournalFormat.RecordMarker)
                    record.Flags.Should().NotHaveFlag(RecordFlags.WholeState, $"record at {offset} of {name}");
            }
        }

        var data = files[DataFile.FileName];
        for (var page = 0; page < data.Length / PageSize; page++)
        {
            var header = MemoryMarshal.Read<PageHeader>(data.AsSpan(page * PageSize));
            if (header.PageNumber != page || header.Kind is not (PageKind.Leaf or PageKind.Branch))
                continue;
            header.TransactionId.Should().Be(0);
            header.ExtentBytes.Should().Be(0);
        }
    }

    private sealed class SetClock : TimeProvider
    {
        public DateTimeOffset Now { get; set; }

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
