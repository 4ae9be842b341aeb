using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Memory;
using Voron.Simulation.Processes;
using Voron.Tests.Faults;
using Voron.Tests.Opening;

namespace Voron.Tests.Contracts;

/// <summary>The effects of options, of the volume and of the limits of the process on an environment.</summary>
public sealed class OptionTests
{
    [Fact]
    public void An_environment_reports_its_own_page_size_and_refuses_another()
    {
        var disk = new SimulatedDisk();
        using (var made = StorageEnvironment.Open(disk, new StorageOptions { PageSize = 8192, BackgroundFlush = false }))
            made.Options.PageSize.Should().Be(8192);

        // The default, set explicitly, is another one too.
        foreach (var other in new[] { 4096, 16384 })
        {
            var before = FaultTestKit.Bytes(disk);
            FluentActions.Invoking(() => StorageEnvironment.Open(disk, new StorageOptions { PageSize = other, BackgroundFlush = false }))
                .Should().Throw<ArgumentException>().WithParameterName("options").WithMessage($"*page size of 8192*PageSize is {other}*");
            FaultTestKit.Bytes(disk).Should().BeEquivalentTo(before);
        }

        using (var same = StorageEnvironment.Open(disk, new StorageOptions { PageSize = 8192, BackgroundFlush = false }))
            same.GetStatistics().PageSize.Should().Be(8192);

        // Options that ask for no page size get the actual one, without a warning.
        var logger = new ListLogger();
        using var again = StorageEnvironment.Open(disk, FaultTestKit.Options(logger));
        again.Options.PageSize.Should().Be(8192);
        logger.Warnings.Should().BeEmpty();
    }

    [Fact]
    public void Permissions_are_those_that_were_asked_for()
    {
        const UnixFileMode shared = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        var options = new StorageOptions { FileMode = shared, BackgroundFlush = false };
        foreach (var wrong in new[] { UnixFileMode.UserRead, shared | UnixFileMode.UserExecute, shared | UnixFileMode.SetUser, UnixFileMode.None })
        {
            var validate = () => new StorageOptions { FileMode = wrong }.Validate();
            validate.Should().Throw<ArgumentException>().WithMessage("*FileMode*");
        }

        Assert.SkipWhen(OperatingSystem.IsWindows(), "wants permissions of POSIX systems");
        using var directory = new TemporaryDirectory();
        var path = Path.Combine(directory.Path, "new");
        using var environment = StorageEnvironment.Open(path, options);
        FaultTestKit.Put(environment, 1, [1]);
        new DirectoryInfo(path).UnixFileMode.Should().Be(shared | UnixFileMode.UserExecute | UnixFileMode.GroupExecute);
        foreach (var file in Directory.GetFiles(path))
            new FileInfo(file).UnixFileMode.Should().Be(shared, "of {0}", file);
    }

    /// <summary>As on Windows, where the system refuses to truncate a file while any part of it is mapped.</summary>
    [Fact]
    public void A_file_that_cannot_be_cut_while_it_is_mapped_is_cut_when_it_is_closed()
    {
        var disk = new SimulatedDisk();
        disk.FailNext(
            call => call.Kind == DiskCallKind.SetLength && call.Name == Place.Data && disk.LiveMaps > 0, DiskError.Failed, forever: true);
        long grown;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (var i = 0; i < 20; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 1 << 20));
            environment.Flush();
            using (var writing = environment.BeginWrite())
            {
                writing.DeleteTree(FaultTestKit.TreeName);
                writing.Commit();
            }
            FaultTestKit.Put(environment, 7, [7]);
            environment.Flush();
            environment.ReclaimSpace();
            grown = disk.Contents(Place.Data).Length;
            grown.Should().BeGreaterThan(20 << 20);
        }

        disk.Contents(Place.Data).Length.Should().BeLessThan(9 << 20);
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 7).Should().Equal(7);
        reopened.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>
    /// The reservation follows the plan for any size of the volume: tables for twice the pages that it could hold, plus a constant.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(16L << 30)]
    [InlineData(1L << 40)]
    [InlineData(16L << 40)]
    [InlineData(long.MaxValue)]
    public void An_environment_reserves_the_addresses_that_its_volume_could_need(long volume)
    {
        var reserved = new Reservations();
        using (new WatchedThread(reserved))
        {
            using var environment = StorageEnvironment.Open(new SimulatedDisk { VolumeBytes = volume }, FaultTestKit.Options());
            ShouldFollowThePlan(environment, reserved, volume);
        }
    }

    [Fact]
    public void An_environment_on_files_reserves_the_addresses_that_its_volume_could_need()
    {
        using var directory = new TemporaryDirectory();
        var reserved = new Reservations();
        using (new WatchedThread(reserved))
        {
            using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
            ShouldFollowThePlan(environment, reserved, SystemDirectory.VolumeBytes(directory.Path));
        }
    }

    [Theory]
    [InlineData(4)]
    [InlineData(8)]
    public void An_environment_works_within_a_limit_on_addresses(int gibibytes)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "wants ulimit");
        using var directory = new TemporaryDirectory();
        using (var target = new KillTargetProcess(directory.Path, gibibytes))
        {
            target.Listen();
            target.Kill();
        }

        using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
    }

    private static void ShouldFollowThePlan(StorageEnvironment environment, Reservations reserved, long volume)
    {
        const long MaxPages = uint.MaxValue;
        const long MinPages = 1 << 20;
        const long Beside = 512 << 20;
        FaultTestKit.Put(environment, 1, [1]);
        var pages = Math.Max(MinPages, volume / environment.Options.PageSizeOrDefault);
        var limit = Math.Min(MaxPages, pages > MaxPages / 2 ? MaxPages : 2 * pages);
        environment.Internals.Engine.DataFile.PageLimit.Should().Be(limit);
        reserved.Bytes.Should().BeInRange(AddressPlan.Bytes(limit) / 10 * 9, AddressPlan.Bytes(limit) + Beside);
    }

    /// <summary>Counts the bytes that the engine has taken and not returned.</summary>
    private sealed class Reservations : IMemoryWatch
    {
        private readonly Dictionary<nint, long> _live = [];

        public long Bytes
        {
            get
            {
                lock (_live)
                    return _live.Values.Sum();
            }
        }

        bool IMemoryWatch.Allows(nuint bytes) => true;

        void IMemoryWatch.Taken(nint address, nuint bytes)
        {
            lock (_live)
                _live[address] = (long)bytes;
        }

        void IMemoryWatch.Freed(nint address)
        {
            lock (_live)
                _live.Remove(address);
        }
    }
}
