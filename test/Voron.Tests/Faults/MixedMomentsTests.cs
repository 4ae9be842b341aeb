using Voron.Format;
using Voron.Journal;
using Voron.Simulation.Disks;

namespace Voron.Tests.Faults;

/// <summary>Files from different moments of one environment are refused, unless recovery restores one of these moments from them.</summary>
public sealed class MixedMomentsTests
{
    private const string Data = "voron.data";
    private const string Header = "voron.header";

    private static StorageOptions Options => FaultTestKit.Options();

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void An_older_data_file_in_a_current_directory_is_refused(int flushesBefore)
    {
        var (older, newer) = Moments(flushesBefore);
        var open = () => StorageEnvironment.Open(newer.With(older, Data).ToDisk(), Options).Dispose();
        open.Should().Throw<CorruptionException>().WithMessage("*voron.data*checkpoint*");
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void A_newer_data_file_in_an_older_directory_is_refused(int flushesBefore)
    {
        var (older, newer) = Moments(flushesBefore);
        var open = () => StorageEnvironment.Open(older.With(newer, Data).ToDisk(), Options).Dispose();
        open.Should().Throw<CorruptionException>().WithMessage("*voron.data*checkpoint*");
    }

    [Fact]
    public void A_data_file_copied_while_it_was_flushed_does_not_fit_the_header_after_the_flush()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        Put(environment, 0);
        environment.Flush();
        Put(environment, 1000);
        var during = FilesWithinFlush(environment, disk);
        var after = FileSet.Of(disk);

        // On its own, the copy is the state that a kill during the flush leaves.
        using (var killed = StorageEnvironment.Open(during.ToDisk(), Options))
            FaultTestKit.Get(killed, 7).Should().Equal(FaultTestKit.Value(1007, 300));
        var mixed = () => StorageEnvironment.Open(after.With(during, Data).ToDisk(), Options).Dispose();
        mixed.Should().Throw<CorruptionException>().WithMessage("*voron.data*checkpoint*");
    }

    /// <summary>
    /// The stamp "n, unfinished" passed for a sector with bytes of "n" and of "n + 1, unfinished", and so older data
    /// for those of the header.
    /// </summary>
    [Fact]
    public void A_data_file_copied_while_it_was_flushed_does_not_fit_the_header_within_the_next_flush()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        Put(environment, 0);
        var first = FilesWithinFlush(environment, disk);
        Put(environment, 1000);
        var second = FilesWithinFlush(environment, disk);
        using (var killed = StorageEnvironment.Open(second.ToDisk(), Options))
            FaultTestKit.Get(killed, 7).Should().Equal(FaultTestKit.Value(1007, 300));
        var mixed = () => StorageEnvironment.Open(second.With(first, Data).ToDisk(), Options).Dispose();
        mixed.Should().Throw<CorruptionException>().WithMessage("*voron.data*checkpoint*");
    }

    /// <summary>Any mixture of bytes of the two stamps that a file may have when their sector is torn is accepted, but no third stamp.</summary>
    [Fact]
    public void No_mixture_of_two_stamps_is_a_third_one()
    {
        foreach (long header in Enumerable.Range(1, 1_000).Concat([0x7FFF, 0xFFFF, 0x10000, 0xFFFFFF, 0x1000000, 0x7FFFFFFF]))
        {
            foreach (var next in Enumerable.Range(1, 3).Select(step => header + step))
            {
                List<ulong> two = [DataFileStamp.Finished(header), DataFileStamp.Begun(next), DataFileStamp.Finished(next)];
                for (var bytes = 0; bytes < 256; bytes++)
                    DataFileStamp.IsMixture(Torn(two[0], two[1], bytes), two).Should().BeTrue();
                DataFileStamp.IsMixture(DataFileStamp.Begun(header), two).Should().BeFalse($"{header} precedes {next}");
                for (var other = Math.Max(1, header - 100); other < header + 100; other++)
                {
                    if (other == header || other == next)
                        continue;
                    DataFileStamp.IsMixture(DataFileStamp.Begun(other), two).Should().BeFalse();
                    DataFileStamp.IsMixture(DataFileStamp.Finished(other), two).Should().BeFalse();
                }
            }
        }
    }

    /// <summary>
    /// The header of a new environment starts replay at the first record of all. Behind a clean close, a journal file may be begun and have no
    /// record yet: beside that header it looked like a journal from which nothing had been lost.
    /// </summary>
    [Fact]
    public void The_first_header_does_not_fit_a_journal_file_that_was_begun_after_a_close()
    {
        var disk = new SimulatedDisk();
        FileSet older;
        using (var environment = StorageEnvironment.Open(disk, Options))
        {
            Put(environment, 0);
            older = FileSet.Of(disk);
        }

        using var opened = StorageEnvironment.Open(disk, Options);
        var from = disk.TraceCount;
        Put(opened, 1000);
        var images = new CrashImages(disk);
        var begun = 0;
        for (var cut = from; cut <= disk.TraceCount; cut++)
        {
            var newer = FileSet.Of(images.BuildKilled(cut));
            if (newer.Names.Count(name => JournalFile.IndexOf(name) >= 0) < 2)
                continue;
            begun++;
            var open = () => StorageEnvironment.Open(newer.With(older, Header, Data).ToDisk(), Options).Dispose();
            open.Should().Throw<CorruptionException>($"cut {cut}").WithMessage("*Restore all files of the environment from one copy*");
        }

        begun.Should().BePositive();
    }

    [Fact]
    public void A_newer_header_does_not_start_behind_the_end_of_an_older_journal()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        var older = FileSet.Of(disk);
        FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 100));
        environment.Flush();
        FaultTestKit.Put(environment, 3, FaultTestKit.Value(3, 100));
        var newer = FileSet.Of(disk);
        var journals = newer.Names.Where(name => name.StartsWith("journal-", StringComparison.Ordinal)).ToArray();
        var open = () => StorageEnvironment.Open(newer.With(older, journals).ToDisk(), Options).Dispose();
        open.Should().Throw<CorruptionException>().WithMessage("*journal*");
    }

    /// <summary>A journal file that is used again has records of an earlier epoch at the same offsets.</summary>
    [Fact]
    public void A_record_of_an_earlier_epoch_does_not_replace_the_one_before_the_start()
    {
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 64 << 10, MaxJournalFileBytes = 64 << 10 };
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, options);
        for (var i = 0; i < 20; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 3000));
        environment.Flush();
        using var reading = environment.BeginRead();

        // The file has its new header, but not yet its first record.
        FileSet? older = null;
        disk.InProgress = entry =>
        {
            if (entry is { Kind: TraceKind.Write, Offset: < JournalFormat.FirstRecordOffset } && disk.NameOf(entry) == "journal-00000001.voron")
                older = FileSet.Of(disk);
        };
        for (var i = 20; older == null && i < 60; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 3000));
        disk.InProgress = null;
        older.Should().NotBeNull();
        environment.Internals.WriteJournalSnapshot().Should().BeTrue();
        var newer = FileSet.Of(disk);

        using (var whole = StorageEnvironment.Open(older!.ToDisk(), options))
            FaultTestKit.Get(whole, 19).Should().NotBeNull();
        var ofNewer = newer.Names.Where(name => name == Header || name.StartsWith("rewrite-", StringComparison.Ordinal)).ToArray();
        ofNewer.Should().HaveCount(2);
        var open = () => StorageEnvironment.Open(older!.With(newer, ofNewer).ToDisk(), options).Dispose();
        open.Should().Throw<CorruptionException>().WithMessage("*journal*");
    }

    [Fact]
    public void The_data_file_says_which_checkpoint_it_belongs_to()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options))
        {
            Stamp(disk).Should().Be(0, "a new environment has none");
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
            environment.Flush();
            Stamp(disk).Should().Be(DataFileStamp.Finished(NumberOf(disk)));
            environment.Verify().Problems.Should().BeEmpty();
        }

        var closed = Stamp(disk);
        using var again = StorageEnvironment.Open(disk, Options);
        FaultTestKit.Get(again, 1).Should().NotBeNull();
        Stamp(disk).Should().Be(closed);
    }

    [Theory]
    [InlineData(TornPageProtection.Checksums)]
    [InlineData(TornPageProtection.FullPageImages)]
    public void A_journal_snapshot_after_an_unfinished_flush_still_fits(TornPageProtection form)
    {
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10,
            TornPageProtection = form,
        };
        var disk = new SimulatedDisk();
        FileSet during;
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            for (var i = 0; i < 100; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 300));
            during = FilesWithinFlush(environment, disk);
        }

        var killed = during.ToDisk();
        using (var environment = StorageEnvironment.Open(killed, options))
        {
            using var reading = environment.BeginRead();
            FaultTestKit.Put(environment, 100, FaultTestKit.Value(100, 300));
            environment.Internals.WriteJournalSnapshot().Should().BeTrue();
            during = FileSet.Of(killed);
        }

        using var last = StorageEnvironment.Open(during.ToDisk(), options);
        FaultTestKit.Get(last, 100).Should().NotBeNull();
        FaultTestKit.Get(last, 7).Should().Equal(FaultTestKit.Value(7, 300));
        last.Verify().Problems.Should().BeEmpty();
    }

    private static ulong Torn(ulong one, ulong other, int bytesOfOther)
    {
        var torn = 0UL;
        for (var i = 0; i < 8; i++)
            torn |= ((bytesOfOther >> i & 1) == 0 ? one : other) & 0xFFUL << 8 * i;
        return torn;
    }

    private static void Put(StorageEnvironment environment, int seed)
    {
        for (var i = 0; i < 300; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i + seed, 300));
    }

    /// <summary>Flushes, and returns the files of the moment when the data file has been stamped but no page has been written yet.</summary>
    private static FileSet FilesWithinFlush(StorageEnvironment environment, SimulatedDisk disk)
    {
        FileSet? during = null;
        disk.InProgress = entry => during ??= entry.Kind == TraceKind.Sync && disk.NameOf(entry) == Data ? FileSet.Of(disk) : null;
        environment.Flush();
        disk.InProgress = null;
        return during!;
    }

    private static (FileSet Older, FileSet Newer) Moments(int flushesBefore)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        for (var i = 0; i < 200; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 300));
        if (flushesBefore > 0)
            environment.Flush();
        var older = FileSet.Of(disk);
        for (var i = 0; i < 200; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i + 1000, 300));
        environment.Flush();
        return (older, FileSet.Of(disk));
    }

    private static ulong Stamp(SimulatedDisk disk)
    {
        var bytes = new byte[8];
        disk.CopyOf(Data).Read(8, bytes);
        return BitConverter.ToUInt64(bytes);
    }

    private static long NumberOf(SimulatedDisk disk)
    {
        var bytes = new byte[8];
        var highest = 0L;
        for (var slot = 0; slot < 2; slot++)
        {
            disk.CopyOf(Header).Read(slot * 4096 + 48, bytes);
            highest = Math.Max(highest, BitConverter.ToInt64(bytes));
        }

        return highest;
    }
}
