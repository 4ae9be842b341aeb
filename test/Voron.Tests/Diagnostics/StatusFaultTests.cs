using System.Text;
using Microsoft.Extensions.Time.Testing;
using Voron.Diagnostics;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>Whatever happens to the status file, the environment beside it is unharmed.</summary>
public sealed class StatusFaultTests
{
    private readonly ListLogger _log = new();

    [Theory]
    [InlineData((int)DiskCallKind.Create, (int)DiskError.NoSpace)]
    [InlineData((int)DiskCallKind.Create, (int)DiskError.AccessDenied)]
    [InlineData((int)DiskCallKind.Write, (int)DiskError.NoSpace)]
    [InlineData((int)DiskCallKind.Write, (int)DiskError.Failed)]
    [InlineData((int)DiskCallKind.Open, (int)DiskError.Failed)]
    [InlineData((int)DiskCallKind.Read, (int)DiskError.Failed)]
    public void A_failure_is_logged_once_and_tried_again(int kind, int error)
    {
        var kit = new StatusKit();
        using (var environment = kit.Open(_log))
        {
            if ((DiskCallKind)kind is DiskCallKind.Open or DiskCallKind.Read)
                kit.Clock.Advance(StatusKit.Interval);
            kit.Disk.FailNext(call => call.Name == StatusFile.FileName && call.Kind == (DiskCallKind)kind, (DiskError)error, forever: true);
            for (var i = 0; i < 3; i++)
            {
                FaultTestKit.Put(environment, i, [1]);
                kit.Clock.Advance(20 * StatusKit.Interval);
            }

            environment.Internals.Engine.Poison.IsPoisoned.Should().BeFalse();
            var warning = FaultTestKit.WarningsOf(environment, _log).Should().ContainSingle().Which;
            warning.Should().Contain(StatusFile.FileName).And.Contain("is retried");
            kit.Disk.ClearFaults();

            // Longer than the longest pause between two attempts.
            kit.Clock.Advance(TimeSpan.FromMinutes(2));
            kit.Reading!.Block.CommittedTransactions.Should().Be(3);
            FaultTestKit.Put(environment, 4, [4]);
            environment.Flush();
            environment.Verify().IsSound.Should().BeTrue();
        }

        kit.HasFile.Should().BeFalse();
        _log.Warnings.Should().ContainSingle();
    }

    [Fact]
    public void A_file_that_a_person_has_deleted_comes_back()
    {
        var kit = new StatusKit();
        using var environment = kit.Open(_log);
        kit.Clock.Advance(StatusKit.Interval);
        kit.Disk.Delete(StatusFile.FileName);
        FaultTestKit.Put(environment, 1, [1]);
        kit.Clock.Advance(StatusKit.Interval);
        kit.Block.CommittedTransactions.Should().Be(1);
        FaultTestKit.WarningsOf(environment, _log).Should().BeEmpty();
    }

    [Theory]
    [InlineData("file")]
    [InlineData("directory")]
    [InlineData("link")]
    public void What_a_person_has_put_in_its_place_stays(string what)
    {
        using var directory = new TestDirectory();
        var place = Path.Combine(directory, StatusFile.FileName);
        var mine = Path.Combine(directory, "mine");
        var content = Encoding.UTF8.GetBytes(new string('m', 6_000));
        var clock = new FakeTimeProvider();
        using (StorageEnvironment.Open(directory, FaultTestKit.Options()))
        {
        }

        if (what == "directory")
            Directory.CreateDirectory(place);
        else
            File.WriteAllBytes(what == "link" ? mine : place, content);
        if (what == "link")
        {
            Assert.SkipWhen(OperatingSystem.IsWindows(), "Making a link needs a privilege on Windows.");
            File.CreateSymbolicLink(place, mine);
        }

        for (var opening = 0; opening < 2; opening++)
        {
            using var environment = StorageEnvironment.Open(directory, StatusKit.OptionsFor(clock, _log));
            FaultTestKit.Put(environment, opening, [1]);
            clock.Advance(20 * StatusKit.Interval);
            environment.Verify().IsSound.Should().BeTrue();
            FaultTestKit.WarningsOf(environment, _log).Should().HaveCount(opening + 1);
        }

        if (what == "directory")
            Directory.Exists(place).Should().BeTrue();
        else
            File.ReadAllBytes(what == "link" ? mine : place).Should().Equal(content);
        new FileInfo(place).LinkTarget.Should().Be(what == "link" ? mine : null);
    }

    /// <summary>The rule that an environment keeps for all its files, once the directory belongs to another one.</summary>
    [Fact]
    public void The_file_of_an_environment_that_has_taken_the_place_stays()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Windows does not let the header of an open environment be replaced.");
        using var directory = new TestDirectory();
        var place = Path.Combine(directory, StatusFile.FileName);
        var header = Path.Combine(directory, "voron.header");
        var clock = new FakeTimeProvider();
        using (var environment = StorageEnvironment.Open(directory, StatusKit.OptionsFor(clock, _log)))
        {
            FaultTestKit.Put(environment, 0, [0]);
            clock.Advance(StatusKit.Interval);
            var bytes = File.ReadAllBytes(header);
            File.Delete(header);
            File.WriteAllBytes(header, bytes);
            var other = new byte[StatusFile.Length];
            StatusFile.Fill(new() { Session = Voron.Format.RandomId.New(), ProcessId = 17 }, null, other);
            File.WriteAllBytes(place, other);
            FaultTestKit.Put(environment, 1, [1]);
            clock.Advance(20 * StatusKit.Interval);
            File.ReadAllBytes(place).Should().Equal(other);
            FaultTestKit.WarningsOf(environment, _log).Should().Contain(warning => warning.Contains(StatusFile.FileName, StringComparison.Ordinal));
            environment.Internals.Engine.Poison.Set(new InvalidOperationException("nothing more is to be written"));
        }

        File.ReadAllBytes(place)[64].Should().Be(17);
    }

    /// <summary>A write that hangs with the device holds neither commits nor readers up, and a closing only for a limited time.</summary>
    [Fact]
    public void A_write_that_hangs_keeps_no_caller_waiting()
    {
        var disk = new SimulatedDisk();
        using var stalling = new StallingDisk();
        var options = StatusKit.OptionsFor(TimeProvider.System, _log);
        options.StatusInterval = TimeSpan.FromMilliseconds(10);
        var environment = StorageEnvironment.Open(new WatchedDisk(disk, stalling), options);
        stalling.Stall();
        FaultTestKit.Put(environment, 1, [1]);
        TestWait.Until(() => stalling.Waiting == 1);
        for (var i = 2; i < 50; i++)
            FaultTestKit.Put(environment, i, [1]);
        environment.Flush();
        FaultTestKit.Get(environment, 49).Should().Equal(1);
        stalling.Waiting.Should().Be(1, "one write at a time is made");
        environment.Dispose();
        disk.HeldLocks.Should().BePositive("the write may still change the directory");
        stalling.GoOn();
        TestWait.Until(() => disk.HeldLocks == 0);
        disk.List().Should().NotContain(entry => entry.Name == StatusFile.FileName);
        using var again = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(again, 49).Should().Equal(1);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_power_cut_at_any_point_leaves_every_commit_and_the_file_harms_no_opening(int seed)
    {
        var kit = new StatusKit();
        var options = kit.Options();
        options.BackgroundFlush = true;
        options.FlushInterval = TimeSpan.FromHours(1);
        using (var environment = StorageEnvironment.Open(kit.Disk, options))
        {
            for (var i = 1; i <= 6; i++)
            {
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 2_000));
                kit.Disk.Mark(i);
                kit.Clock.Advance(StatusKit.Interval);
                if (i % 3 == 0)
                    environment.Flush();
            }
        }

        var images = new CrashImages(kit.Disk);
        var random = new Random(seed);
        var found = 0;
        var acknowledged = 0;
        for (var cut = 0; cut <= kit.Disk.TraceCount; cut++)
        {
            if (cut > 0 && kit.Disk.Trace(cut - 1) is { Marker: int number })
                acknowledged = number;
            var left = images.Build(cut, random);
            found += left.List().Any(entry => entry.Name == StatusFile.FileName) ? 1 : 0;
            StatusFile.TryRead(left, out _);
            using var again = StorageEnvironment.Open(left, FaultTestKit.Options());
            for (var i = 1; i <= acknowledged; i++)
                FaultTestKit.Get(again, i).Should().Equal(FaultTestKit.Value(i, 2_000), $"commit {i} of {acknowledged} at cut {cut}");
            if (cut % 10 == 0)
                again.Verify().IsSound.Should().BeTrue();
        }

        found.Should().BeGreaterThan(10, "many cuts leave the file, whole or in part");
    }

    /// <summary>Lends a simulated disk, and makes the writes of the status file hang when a test wants it.</summary>
    private sealed class WatchedDisk(SimulatedDisk disk, StallingDisk stalling) : IDisk
    {
        public string Path => disk.Path;

        public object Place => disk.Place;

        public int Alignment => disk.Alignment;

        public bool IsReadOnly => disk.IsReadOnly;

        public bool IsUnbuffered => disk.IsUnbuffered;

        public bool IsVisibleToOthers => true;

        public IReadOnlyList<DiskEntry> List() => disk.List();

        public DiskFile Open(string name, DiskOpen open, DiskAccess access) =>
            name == StatusFile.FileName ? stalling.Watch(name, disk.Open(name, open, access)) : disk.Open(name, open, access);

        public DiskFile OpenTemporary(DiskAccess access) => disk.OpenTemporary(access);

        public void Rename(string source, string target) => disk.Rename(source, target);

        public void Delete(string name) => disk.Delete(name);

        public void SyncDirectory() => disk.SyncDirectory();

        public IDisposable Lock(string name, bool shared) => disk.Lock(name, shared);

        public void Dispose() => disk.Dispose();
    }
}
