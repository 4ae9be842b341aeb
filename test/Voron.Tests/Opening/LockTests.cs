using System.Diagnostics;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.IO;
using Voron.IO.Posix;
using Voron.Simulation.Processes;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>Only one writer, or only readers, may have a directory open, whatever is done to the files in it.</summary>
public sealed class LockTests
{
    private static readonly StorageOptions Reading = new() { ReadOnly = true };

    [Fact]
    public void A_reader_of_a_restored_directory_keeps_writers_out()
    {
        using var directory = Place.WithEnvironment();
        File.Delete(Path.Combine(directory.Path, "voron.lock"));
        using var reader = StorageEnvironment.Open(directory.Path, Reading);
        ShouldBeInUse(directory.Path, FaultTestKit.Options());
        using var second = StorageEnvironment.Open(directory.Path, Reading);
        FaultTestKit.Get(second, 1).Should().Equal(1);
    }

    [Fact]
    public void A_reader_of_a_directory_that_it_cannot_write_keeps_writers_out()
    {
        if (OperatingSystem.IsWindows())
            throw Xunit.Sdk.SkipException.ForSkip("wants permissions of POSIX systems");
        using var directory = Place.WithEnvironment();
        File.SetUnixFileMode(directory.Path, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        File.SetUnixFileMode(Path.Combine(directory.Path, Place.Header), UnixFileMode.UserRead);
        using (StorageEnvironment.Open(directory.Path, Reading))
        {
            File.SetUnixFileMode(directory.Path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
            File.SetUnixFileMode(Path.Combine(directory.Path, Place.Header), UnixFileMode.UserRead | UnixFileMode.UserWrite);
            ShouldBeInUse(directory.Path, FaultTestKit.Options());
        }
    }

    [Fact]
    public void Removing_the_lock_file_of_earlier_versions_lets_no_second_writer_in()
    {
        using var directory = Place.WithEnvironment();
        using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        File.Delete(Path.Combine(directory.Path, "voron.lock"));
        ShouldBeInUse(directory.Path, FaultTestKit.Options());
        ShouldBeInUse(directory.Path, Reading);
        FaultTestKit.Put(environment, 2, [2]);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Removing_the_header_lets_no_second_environment_in(bool readOnly)
    {
        using var directory = Place.WithEnvironment();
        using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        File.Delete(Path.Combine(directory.Path, Place.Header));
        var open = () => StorageEnvironment.Open(directory.Path, readOnly ? Reading : FaultTestKit.Options());
        if (OperatingSystem.IsWindows())
        {
            // The name may stay until the last handle is closed, and still leads to the lock.
            open.Should().Throw<VoronException>().WithMessage("*voron.header*");
            return;
        }

        open.Should().Throw<CorruptionException>().WithMessage("*voron.header*");
        File.Exists(Path.Combine(directory.Path, Place.Header)).Should().BeFalse();
    }

    /// <summary>
    /// A copy of the header in its place has another identity: the writer that held the old one must no longer change any name.
    /// </summary>
    [Fact]
    public void A_writer_whose_header_was_replaced_makes_and_deletes_no_more_files()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "replaces an open file, which Windows refuses");
        using var directory = Place.WithEnvironment();
        var header = Path.Combine(directory.Path, Place.Header);
        using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        var bytes = Place.Read(header);
        File.Delete(header);
        File.WriteAllBytes(header, bytes);
        var names = Directory.GetFiles(directory.Path).Order().ToList();
        var write = () =>
        {
            for (var i = 0; i < 100; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 20_000));
        };
        write.Should().Throw<VoronException>().WithMessage("*voron.header*");
        Directory.GetFiles(directory.Path).Order().Should().Equal(names);
    }

    [Fact]
    public void Hard_links_to_the_files_of_an_open_environment_are_noticed()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "makes hard links by the command ln");
        using var directory = Place.WithEnvironment();
        using var other = new TemporaryDirectory();
        foreach (var file in Directory.GetFiles(directory.Path))
            Place.Run("ln", file, Path.Combine(other.Path, Path.GetFileName(file)));
        using (StorageEnvironment.Open(directory.Path, FaultTestKit.Options()))
            ShouldBeInUse(other.Path, FaultTestKit.Options());

        // A copy of the header alone does not help: the data file is the same.
        var header = Path.Combine(other.Path, Place.Header);
        var bytes = Place.Read(header);
        File.Delete(header);
        File.WriteAllBytes(header, bytes);
        using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        ShouldBeInUse(other.Path, FaultTestKit.Options());
    }

    [Fact]
    public void One_of_many_concurrent_creations_of_an_environment_succeeds()
    {
        for (var round = 0; round < 20; round++)
        {
            using var directory = new TemporaryDirectory();
            var path = Path.Combine(directory.Path, "new");
            using var start = new Barrier(6);
            using var open = new CountdownEvent(6);
            var owners = 0;
            var threads = Enumerable.Range(0, 6).Select(_ => new Thread(() =>
            {
                start.SignalAndWait();
                StorageEnvironment? environment = null;
                try
                {
                    environment = StorageEnvironment.Open(path, FaultTestKit.Options());
                    Interlocked.Increment(ref owners);
                }
                catch (EnvironmentInUseException)
                {
                    // Another thread has the environment open, or is creating it.
                }
                open.Signal();
                open.Wait();
                environment?.Dispose();
            })).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            owners.Should().Be(1);
            Directory.GetFiles(path).Should().NotContain(file => file.EndsWith(".creating", StringComparison.Ordinal));
            using var reopened = StorageEnvironment.Open(path, FaultTestKit.Options());
            FaultTestKit.Put(reopened, 1, [1]);
        }
    }

    [Fact]
    public void Another_process_behind_a_link_is_named()
    {
        using var directory = new TemporaryDirectory();
        var real = Path.Combine(directory.Path, "real");
        var link = Path.Combine(directory.Path, "link");
        Directory.CreateDirectory(real);
        TestLinks.ToDirectory(link, real);
        using var target = new KillTargetProcess(link);
        target.Listen();
        var open = () => StorageEnvironment.Open(real, FaultTestKit.Options());
        open.Should().Throw<EnvironmentInUseException>().WithMessage($"*process {target.ProcessId}*");
        target.Kill();
        using var environment = StorageEnvironment.Open(real, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
    }

    /// <summary>
    /// The last rename of a creation was lost, even after the environment has been used: everything is present but that name.
    /// </summary>
    [Fact]
    public void A_header_that_has_lost_its_name_gets_it_back()
    {
        using var directory = Place.Killed(30);
        File.Move(Path.Combine(directory.Path, Place.Header), Path.Combine(directory.Path, Place.Header + ".creating"));
        var open = () => StorageEnvironment.Open(directory.Path, Reading);
        open.Should().Throw<EnvironmentNotFoundException>();
        using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        for (var i = 1; i <= 30; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, 300));
        File.Exists(Path.Combine(directory.Path, Place.Header + ".creating")).Should().BeFalse();
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(8192, false)]
    [InlineData(0, true)]
    public void An_unfinished_header_beside_a_lost_one_costs_no_data(int length, bool isOfAnother)
    {
        using var directory = Place.Killed(5);
        using var other = Place.WithEnvironment();
        var unfinished = Path.Combine(directory.Path, Place.Header + ".creating");
        File.Delete(Path.Combine(directory.Path, Place.Header));
        File.WriteAllBytes(unfinished, isOfAnother ? Place.Read(Path.Combine(other.Path, Place.Header)) : new byte[length]);
        var before = FaultTestKit.Bytes(directory.Path);
        var open = () => StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        open.Should().Throw<VoronException>();
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(directory.Path), before);
    }

    /// <summary>The lock of macOS and of old kernels: files that the engine opens and closes while it holds the lock must not end it.</summary>
    [Fact]
    public void The_lock_of_a_whole_file_outlives_descriptors_that_are_closed_meanwhile()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && File.Exists(FlockCommand), $"asks {FlockCommand} of Linux for the locks of another process");
        using var directory = Place.Killed(5);
        var header = Path.Combine(directory.Path, Place.Header);
        var data = Path.Combine(directory.Path, Place.Data);

        // Makes the opening read the unfinished header, and both files once more, while it holds the lock.
        File.Move(header, header + ".creating");
        using (var environment = OpenWithWholeLocks(directory.Path))
        {
            ShouldBeLocked(header, data);
            FaultTestKit.Put(environment, 6, [6]);
            environment.Flush();
            environment.Verify().Problems.Should().BeEmpty();
            ShouldBeInUse(directory.Path, FaultTestKit.Options());
            ShouldBeInUse(directory.Path, Reading);
            var second = () => OpenWithWholeLocks(directory.Path);
            second.Should().Throw<EnvironmentInUseException>();
            using (var disk = PosixDisk.Open(directory.Path, true, [], NullLogger.Instance))
            {
                foreach (var name in new[] { Place.Header, Place.Data })
                    disk.Open(name, DiskOpen.Existing, DiskAccess.Buffered).Dispose();
            }

            ShouldBeLocked(header, data);
        }

        foreach (var file in new[] { header, data })
            TryLock(file).Should().BeTrue("the environment is closed");
        using var created = new TemporaryDirectory();
        using (OpenWithWholeLocks(created.Path))
            ShouldBeLocked(Path.Combine(created.Path, Place.Header), Path.Combine(created.Path, Place.Data));
    }

    private const string FlockCommand = "/usr/bin/flock";

    private static StorageEnvironment OpenWithWholeLocks(string path) => StorageEnvironment.Open(
        PosixDisk.Open(path, false, [], NullLogger.Instance, new() { Calls = new WholeLocks() }), FaultTestKit.Options());

    private static void ShouldBeLocked(params string[] files)
    {
        foreach (var file in files)
            TryLock(file).Should().BeFalse($"'{file}' is locked");
    }

    // Tries to take the lock from another process.
    private static bool TryLock(string file)
    {
        using var process = Process.Start(FlockCommand, ["--nonblock", "--exclusive", file, "true"]);
        process.WaitForExit();
        return process.ExitCode == 0;
    }

    private static void ShouldBeInUse(string path, StorageOptions options)
    {
        var open = () => StorageEnvironment.Open(path, options);
        open.Should().Throw<EnvironmentInUseException>();
    }

    private sealed class WholeLocks : PosixCalls
    {
        public override bool LocksDescriptions => false;
    }
}
