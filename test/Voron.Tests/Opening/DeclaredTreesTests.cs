using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>Trees that the options declare exist before the first reader can look for them.</summary>
[Quick]
public sealed class DeclaredTreesTests
{
    private static StorageOptions Options(params string[] trees)
    {
        var options = FaultTestKit.Options();
        foreach (var tree in trees)
            options.Trees.Add(tree);
        return options;
    }

    [Fact]
    public void Missing_trees_are_created_in_one_durable_transaction()
    {
        var disk = new SimulatedDisk();
        var commits = new List<CommitReport>();
        var options = Options("users", "orders", "users");
        options.CommitObserver = commits.Add;
        var environment = StorageEnvironment.Open(disk, options);
        commits.Should().ContainSingle();
        Names(environment).Should().Equal("orders", "users");

        // A power cut at this moment loses everything that has not become durable.
        disk = new CrashImages(disk).BuildLost(disk.TraceCount);
        environment.Dispose();
        using var again = StorageEnvironment.Open(disk, Options("orders", "users"));
        Names(again).Should().Equal("orders", "users");
        again.GetStatistics().CommittedTransactions.Should().Be(0, "nothing was missing");
        again.GetStatistics().JournalWrites.Should().Be(0);
    }

    [Fact]
    public void Trees_that_exist_keep_their_content_and_only_the_others_are_created()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options()))
            FaultTestKit.Put(environment, 1, [1]);
        using var again = StorageEnvironment.Open(disk, Options(FaultTestKit.TreeName, "other"));
        FaultTestKit.Get(again, 1).Should().Equal(1);
        Names(again).Should().Equal(FaultTestKit.TreeName, "other");
    }

    [Fact]
    public void A_power_cut_during_the_opening_leaves_all_of_them_or_none()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var disk = new SimulatedDisk();
        StorageEnvironment.Open(disk, Options("a", "b")).Dispose();
        var images = new CrashImages(disk);
        var found = new HashSet<int>();
        for (var cut = 0; cut <= disk.TraceCount; cut++)
        {
            using (var environment = StorageEnvironment.Open(images.Build(cut, random), Options()))
                found.Add(Names(environment).Count);
            using var again = StorageEnvironment.Open(images.Build(cut, random), Options("a", "b"));
            Names(again).Should().Equal("a", "b");
        }

        found.Should().BeEquivalentTo([0, 2]);
    }

    [Fact]
    public void They_are_in_memory_too()
    {
        var longest = new string('é', 127) + "x";
        using var environment = StorageEnvironment.OpenInMemory(Options("a", longest));
        Names(environment).Should().Equal("a", longest);
    }

    [Fact]
    public void An_opening_for_reading_refuses_to_lack_one_and_leaves_the_files_alone()
    {
        var disk = new SimulatedDisk();
        StorageEnvironment.Open(disk, Options("a")).Dispose();
        var before = FaultTestKit.Bytes(disk);
        disk.IsReadOnly = true;
        var reading = Options("a", "b");
        reading.ReadOnly = true;
        FluentActions.Invoking(() => StorageEnvironment.Open(disk, reading)).Should().Throw<KeyNotFoundException>().WithMessage("*'b'*Trees*");
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), before);
        reading.Trees.Remove("b");
        using var environment = StorageEnvironment.Open(disk, reading);
        Names(environment).Should().Equal("a");
    }

    /// <summary>Whatever call to the disk fails, the opening creates all of the trees or none, and holds nothing afterwards.</summary>
    [Fact]
    public void An_opening_that_cannot_create_them_fails_and_a_later_one_creates_them()
    {
        var files = new SimulatedDisk();
        StorageEnvironment.Open(files, Options()).Dispose();
        var before = FaultTestKit.Bytes(files);
        var failures = 0;
        for (var last = 0; ; last++)
        {
            var disk = FaultTestKit.DiskOf(before);
            var calls = 0;
            disk.FailNext(_ => calls++ >= last, DiskError.NoSpace, forever: true);
            try
            {
                StorageEnvironment.Open(disk, Options("a", "b")).Dispose();
                if (calls <= last)
                    break;
            }
            catch (VoronException)
            {
                failures++;
            }

            disk.ClearFaults();
            disk.HeldLocks.Should().Be(0);
            disk.OpenFiles.Should().Be(0);
            using (var environment = StorageEnvironment.Open(disk, Options()))
                Names(environment).Count.Should().BeOneOf(0, 2);
            using var again = StorageEnvironment.Open(disk, Options("a", "b"));
            Names(again).Should().Equal("a", "b");
            again.Verify().Problems.Should().BeEmpty();
        }

        failures.Should().BeGreaterThan(5);
    }

    private static IReadOnlyList<string> Names(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.GetTreeNames();
    }
}
