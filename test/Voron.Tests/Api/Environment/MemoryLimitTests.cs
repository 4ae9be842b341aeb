using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>The native memory of an environment stays within one limit, whatever is done with it.</summary>
public sealed class MemoryLimitTests(ITestOutputHelper output)
{
    private const long MiB = 1 << 20;
    private const long Limit = 16 * MiB;

    [Theory]
    [InlineData(16)]
    [InlineData(24)]
    [InlineData(96)]
    [InlineData(384)]
    [InlineData(1024)]
    [InlineData(2048)]
    [InlineData(100_000)]
    public void The_shares_of_a_limit_stay_within_it(long mebibytes)
    {
        var options = new StorageOptions { MemoryLimitBytes = mebibytes * MiB };
        options.Validate();
        var limit = mebibytes * MiB;
        var lists = (options.ScratchLimitBytes + options.MaxTransactionBytes) / 4096 * 120;
        var sum = options.ScratchMemoryBytes + options.KeyHeadCacheBytes + options.BranchKeyHeadBytes + options.RecordMemoryBytes
            + options.PutBufferBytes + lists;
        sum.Should().BeLessThanOrEqualTo(limit);
        options.ScratchLimitBytes.Should().BeGreaterThanOrEqualTo(options.ScratchMemoryBytes);
        options.MaxGroupCommitBytes.Should().BeLessThanOrEqualTo(limit / 16);
    }

    [Fact]
    public void A_limit_of_two_gibibytes_gives_all_that_an_environment_uses()
    {
        foreach (var limit in new[] { 2048 * MiB, 1L << 50, long.MaxValue })
        {
            var options = new StorageOptions { MemoryLimitBytes = limit };
            options.ScratchMemoryBytes.Should().Be(512 * MiB);
            options.ScratchLimitBytes.Should().Be(2048 * MiB);
            options.KeyHeadCacheBytes.Should().Be(80 * MiB);
            options.MaxTransactionBytes.Should().Be(1024 * MiB);
            options.MaxGroupCommitBytes.Should().Be(4 * MiB);
            options.BranchKeyHeadBytes.Should().Be(32 * MiB);
            options.PutBufferBytes.Should().Be(64 * MiB);
        }
    }

    [Fact]
    public void The_limit_is_a_quarter_of_what_the_runtime_says_unless_it_is_set()
    {
        var quarter = Math.Max(16 * MiB, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4);
        using (var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false }))
            environment.Options.MemoryLimitBytes.Should().Be(quarter);
        using (var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MemoryLimitBytes = 64 * MiB }))
        {
            var options = environment.Options;
            options.MemoryLimitBytes.Should().Be(64 * MiB);
            (options.ScratchMemoryBytes, options.KeyHeadCacheBytes, options.ScratchLimitBytes).Should().Be((20 * MiB, 8 * MiB, 256 * MiB));
        }
    }

    [Fact]
    public void An_option_that_is_set_keeps_its_value_and_the_others_fit_to_it()
    {
        var options = new StorageOptions
        {
            MemoryLimitBytes = 64 * MiB,
            ScratchMemoryBytes = 32 * MiB,
            KeyHeadCacheBytes = 0,
            MaxTransactionBytes = 900 * MiB,
            MaxGroupCommitBytes = 7,
        };
        options.Validate();
        (options.ScratchMemoryBytes, options.KeyHeadCacheBytes, options.MaxTransactionBytes, options.MaxGroupCommitBytes)
            .Should().Be((32 * MiB, 0, 900 * MiB, 7));
        new StorageOptions { MemoryLimitBytes = 64 * MiB, ScratchMemoryBytes = 300 * MiB }.ScratchLimitBytes.Should().Be(300 * MiB);
        new StorageOptions { ScratchLimitBytes = 5 * MiB }.ScratchMemoryBytes.Should().Be(5 * MiB);
        new StorageOptions { MemoryLimitBytes = 2048 * MiB, ScratchMemoryBytes = 2047 * MiB }.ScratchLimitBytes.Should().Be(2048 * MiB);

        // A limit that follows from the machine refuses nothing.
        new StorageOptions { ScratchMemoryBytes = 1L << 50, KeyHeadCacheBytes = 1L << 40 }.Validate();
        FluentActions.Invoking(new StorageOptions { MemoryLimitBytes = 64 * MiB, ScratchMemoryBytes = 60 * MiB, KeyHeadCacheBytes = 5 * MiB }
            .Validate)
            .Should().Throw<ArgumentException>().WithMessage("*ScratchMemoryBytes and KeyHeadCacheBytes*exceed MemoryLimitBytes*");
        FluentActions.Invoking(() => new StorageOptions { MemoryLimitBytes = -5 }.Validate())
            .Should().Throw<ArgumentException>().WithMessage("The storage options are not valid: MemoryLimitBytes is -5; it must be at least *.")
            .Which.Message.Should().NotContain("exceed", "one mistake has one message");
    }

    /// <summary>Random puts touch a page each: the versions of pages, not the puts, are what takes memory.</summary>
    [Theory]
    [InlineData(4096)]
    [InlineData(16384)]
    public void Random_puts_with_a_reader_stay_within_the_limit(int pageSize)
    {
        using var directory = new TestDirectory();
        using (var environment = StorageEnvironment.Open(directory, Options(pageSize)))
        {
            var random = new Random(7);
            for (var commit = 0; commit < 100; commit++)
                PutRandom(environment, random, 1000);
            using (environment.BeginRead())
            {
                // Beyond four times the limit, writers wait a second each.
                for (var commit = 0; commit < 12 * 4096 / pageSize; commit++)
                    PutRandom(environment, random, 1000);
            }

            environment.Verify().Problems.Should().BeEmpty();
            ShouldBeWithinLimit(environment);
            environment.GetStatistics().SpilledBytes.Should().BeGreaterThan(0);
        }

        using var again = StorageEnvironment.Open(directory, Options(pageSize));
        again.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>
    /// The changes, the record that names them, and the same record during recovery: each is larger than the limit. Two records are in
    /// temporary files at once where they are compressed.
    /// </summary>
    [Theory]
    [InlineData(JournalCompression.Never, false)]
    [InlineData(JournalCompression.Never, true)]
    [InlineData(JournalCompression.Always, false)]
    public void A_transaction_larger_than_the_limit_is_committed_and_recovered_within_it(JournalCompression compression, bool readOnly)
    {
        const int values = 3000;
        using var directory = new TestDirectory();
        var options = Options(4096, compression);
        options.BackgroundFlush = false;
        var environment = StorageEnvironment.Open(directory, options);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < values; i++)
                tree.Put(BitConverter.GetBytes(i), Value(i));
            writing.Commit();
        }

        var journaled = environment.GetStatistics().JournalTransactionBytes;
        output.WriteLine($"record of {journaled} bytes");
        journaled.Should().BeGreaterThan(2 * Limit);
        environment.GetStatistics().SpilledBytes.Should().BeGreaterThan(Limit);
        ShouldBeWithinLimit(environment);

        // Leaves the files as a kill does.
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        environment.Dispose();

        options.ReadOnly = readOnly;
        using (var again = StorageEnvironment.Open(directory, options))
        {
            again.Recovery.ReplayedRecords.Should().Be(1);
            ShouldBeWithinLimit(again);
            using (var reading = again.BeginRead())
            {
                var tree = reading.OpenTree("t");
                for (var i = 0; i < values; i++)
                {
                    tree.TryGet(BitConverter.GetBytes(i), out var value).Should().BeTrue();
                    value.SequenceEqual(Value(i)).Should().BeTrue();
                }
            }

            if (!readOnly)
                again.Flush().Should().NotBeNull();
            ShouldBeWithinLimit(again);
        }
    }

    /// <summary>A compressed record that was written with much memory is read with little: both of its forms are larger than the limit.</summary>
    [Fact]
    public void A_compressed_record_larger_than_the_limit_is_recovered_within_it()
    {
        const int values = 9000;
        using var directory = new TestDirectory();
        var options = Options(4096, JournalCompression.Always);
        options.MemoryLimitBytes = 2048 * MiB;
        var environment = StorageEnvironment.Open(directory, options);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < values; i++)
                tree.Put(BitConverter.GetBytes(i), HalfRandom(i));
            writing.Commit();
        }

        environment.GetStatistics().JournalTransactionBytes.Should().BeInRange(Limit, values * 8000 - 1, "it was compressed");
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        environment.Dispose();

        using var again = StorageEnvironment.Open(directory, Options(4096, JournalCompression.Always));
        ShouldBeWithinLimit(again);
        using var reading = again.BeginRead();
        var found = reading.OpenTree("t");
        for (var i = 0; i < values; i++)
        {
            found.TryGet(BitConverter.GetBytes(i), out var value).Should().BeTrue();
            value.SequenceEqual(HalfRandom(i)).Should().BeTrue();
        }
    }

    [Fact]
    public void A_journal_larger_than_the_limit_is_recovered_within_it()
    {
        using var directory = new TestDirectory();
        var options = Options(4096);
        options.MemoryLimitBytes = 2048 * MiB;
        options.BackgroundFlush = false;
        var environment = StorageEnvironment.Open(directory, options);
        var random = new Random(3);
        for (var commit = 0; commit < 300; commit++)
            PutRandom(environment, random, 1000);
        environment.GetStatistics().LiveJournalBytes.Should().BeGreaterThan(Limit);
        environment.GetStatistics().ScratchBytes.Should().BeGreaterThan(Limit);
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        environment.Dispose();

        // A container limits the managed heap too. Recovery runs on this thread.
        var before = GC.GetAllocatedBytesForCurrentThread();
        using var again = StorageEnvironment.Open(directory, Options(4096));
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        var pages = again.GetStatistics().PageVersions;
        output.WriteLine($"recovery allocated {allocated} bytes of managed memory for {pages} pages");
        allocated.Should().BeLessThan(pages * 40, "replayed pages take no managed memory");
        ShouldBeWithinLimit(again);
        again.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Without room for its record, a transaction is refused as without room in the journal, and the environment continues.</summary>
    [Fact]
    public void A_record_for_which_there_is_neither_memory_nor_disk_is_refused()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions
        {
            MemoryLimitBytes = Limit,
            ScratchMemoryBytes = 15 * MiB,
            BackgroundFlush = false,
            JournalCompression = JournalCompression.Never,
        });
        FaultTestKit.Put(environment, 1, [1]);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < 500; i++)
                tree.Put(BitConverter.GetBytes(i), Value(i));
            disk.FailNext(call => call.Kind == DiskCallKind.Create && call.Name.StartsWith("voron.scratch", StringComparison.Ordinal),
                DiskError.NoSpace);
            FluentActions.Invoking(writing.Commit).Should().Throw<StorageFullException>().WithMessage("*journal records*spill file*");
        }

        FaultTestKit.Put(environment, 2, [2]);
        using (var reading = environment.BeginRead())
            reading.TryOpenTree("t", out _).Should().BeFalse();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void All_memory_that_was_counted_is_given_back()
    {
        using var directory = new TestDirectory();
        MemoryAccount account;
        using (var environment = StorageEnvironment.Open(directory, Options(4096)))
        {
            account = environment.Internals.Engine.Memory.Account;
            PutRandom(environment, new Random(1), 20_000);
            environment.Flush();
            environment.Verify();
            environment.GetStatistics().NativeMemoryBytes.Should().BeInRange(4 * MiB, Limit);
        }

        TestWait.Until(() => account.Bytes == 0, "the environment is closed");
    }

    private static StorageOptions Options(int? pageSize, JournalCompression compression = JournalCompression.Auto) => new()
    {
        PageSize = pageSize,
        MemoryLimitBytes = Limit,
        JournalCompression = compression,
        InitialJournalFileBytes = 64 << 10,
        ScrubInterval = Timeout.InfiniteTimeSpan,
    };

    private static void PutRandom(StorageEnvironment environment, Random random, int count)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        var key = new byte[16];
        var value = new byte[100];
        for (var i = 0; i < count; i++)
        {
            random.NextBytes(key);
            tree.Put(key, value);
        }

        writing.Commit();
    }

    // Bytes that no codec shortens.
    private static byte[] Value(int i) => SeededBytes.Make(i, 12_000);

    private static byte[] HalfRandom(int i)
    {
        var value = new byte[8000];
        SeededBytes.Fill(i, value.AsSpan(0, 4000));
        return value;
    }

    private void ShouldBeWithinLimit(StorageEnvironment environment)
    {
        var account = environment.Internals.Engine.Memory.Account;
        output.WriteLine($"peak of {account.PeakBytes} bytes, limit {environment.Options.MemoryLimitBytes}");
        account.PeakBytes.Should().BeGreaterThan(MiB).And.BeLessThanOrEqualTo(environment.Options.MemoryLimitBytes!.Value);
    }
}
