using Voron.IO;
using Voron.Opening;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Processes;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>Whether an opening creates an environment, opens one, or refuses, for each state of the directory.</summary>
public sealed class OpenModeTests(ITestOutputHelper output)
{
    [Fact]
    public void Each_mode_does_what_it_says()
    {
        using var directory = new TestDirectory();
        var path = Path.Combine(directory, "new", "store");
        StorageEnvironment.Exists(path).Should().BeFalse();
        foreach (var options in new StorageOptions[]
        {
            Options(OpenMode.OpenExisting), new() { ReadOnly = true }, new() { ReadOnly = true, OpenMode = OpenMode.OpenExisting },
        })
        {
            Opening(path, options).Should().Throw<EnvironmentNotFoundException>().WithMessage($"*{path}*");
            Directory.GetFileSystemEntries(directory).Should().BeEmpty("not even the directory was created");
        }

        using (var created = StorageEnvironment.Open(path, Options(OpenMode.CreateNew)))
        {
            FaultTestKit.Put(created, 1, [1]);
            StorageEnvironment.Exists(path).Should().BeTrue("it does not matter that it is open");
            Opening(path, Options(OpenMode.CreateNew)).Should().Throw<EnvironmentExistsException>().WithMessage($"*{path}*");
        }

        StorageEnvironment.Exists(path).Should().BeTrue();
        var before = FaultTestKit.Bytes(path);
        Opening(path, Options(OpenMode.CreateNew)).Should().Throw<EnvironmentExistsException>().WithMessage($"*{path}*");
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(path), before);
        foreach (var options in new StorageOptions[]
        {
            Options(OpenMode.OpenExisting), Options(OpenMode.OpenOrCreate), new() { ReadOnly = true },
            new() { ReadOnly = true, OpenMode = OpenMode.OpenExisting },
        })
        {
            using var opened = StorageEnvironment.Open(path, options);
            FaultTestKit.Get(opened, 1).Should().Equal(1);
        }
    }

    [Fact]
    public void A_directory_without_an_environment_is_left_empty_by_an_opening_that_creates_none()
    {
        using var directory = new TestDirectory();
        Opening(directory, Options(OpenMode.OpenExisting)).Should().Throw<EnvironmentNotFoundException>();
        Directory.GetFileSystemEntries(directory).Should().BeEmpty();
        StorageEnvironment.Exists(directory).Should().BeFalse();
        File.WriteAllText(Path.Combine(directory, "note"), "mine");
        StorageEnvironment.Exists(Path.Combine(directory, "note")).Should().BeFalse("it is a file");
        using (StorageEnvironment.Open(directory, Options(OpenMode.CreateNew)))
            StorageEnvironment.Exists(directory).Should().BeTrue();
        File.ReadAllText(Path.Combine(directory, "note")).Should().Be("mine");
    }

    [Fact]
    public void Wrong_calls_name_the_parameter_and_change_nothing()
    {
        using var directory = new TestDirectory();
        var path = Path.Combine(directory, "none");
        StorageOptions[] wrong =
        [
            new() { ReadOnly = true, OpenMode = OpenMode.CreateNew }, new() { OpenMode = (OpenMode)3 },
            new() { LockTimeout = TimeSpan.FromTicks(-1) },
            new() { LockTimeout = TimeSpan.FromDays(25) }, new() { Trees = { "" } }, new() { Trees = { "a", new string('x', 256) } },
            new() { Trees = { "\ud800" } }, new() { MemoryLimitBytes = (16 << 20) - 1 },
        ];
        foreach (var options in wrong)
        {
            Opening(path, options).Should().Throw<ArgumentException>().WithParameterName("options");
            FluentActions.Invoking(() => { _ = StorageEnvironment.OpenAsync(path, options); })
                .Should().Throw<ArgumentException>().WithParameterName("options");
            FluentActions.Invoking(() => StorageEnvironment.OpenInMemory(options)).Should().Throw<ArgumentException>().WithParameterName("options");
            FluentActions.Invoking(options.Validate).Should().Throw<ArgumentException>();
        }

        Action<string>[] calls =
        [
            empty => StorageEnvironment.Open(empty), empty => _ = StorageEnvironment.OpenAsync(empty), empty => StorageEnvironment.Exists(empty),
        ];
        foreach (var call in calls)
        {
            FluentActions.Invoking(() => call("")).Should().Throw<ArgumentException>().WithParameterName("directory");
            FluentActions.Invoking(() => call(null!)).Should().Throw<ArgumentNullException>().WithParameterName("directory");
        }

        Directory.GetFileSystemEntries(directory).Should().BeEmpty();
    }

    /// <summary>
    /// A creation that ends after any call to the disk leaves an environment, or none. An opening of an existing one refuses the latter, and a
    /// creation completes it.
    /// </summary>
    [Theory]
    [InlineData(OpenMode.CreateNew)]
    [InlineData(OpenMode.OpenOrCreate)]
    public void A_creation_that_was_cut_short_has_left_an_environment_or_none(OpenMode mode)
    {
        var (without, with) = (0, 0);
        for (var last = 0; ; last++)
        {
            var disk = new SimulatedDisk();
            var calls = 0;
            disk.FailNext(_ => calls++ >= last, DiskError.Failed, forever: true);
            var isOpen = false;
            try
            {
                StorageEnvironment.Open(disk, Options(mode)).Dispose();
                isOpen = calls <= last;
            }
            catch (VoronException)
            {
            }

            disk.ClearFaults();
            if (isOpen)
                break;
            if (HasHeader(disk))
            {
                with++;
                Refused<EnvironmentExistsException>(disk, OpenMode.CreateNew);
            }
            else
            {
                without++;
                var before = FaultTestKit.Bytes(disk);
                Refused<EnvironmentNotFoundException>(disk, OpenMode.OpenExisting);
                FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), before);
                StorageEnvironment.Open(disk, Options(OpenMode.CreateNew)).Dispose();
            }

            using var environment = StorageEnvironment.Open(disk, Options(OpenMode.OpenExisting));
            FaultTestKit.Put(environment, 1, [1]);
            environment.Verify().Problems.Should().BeEmpty();
        }

        output.WriteLine($"{without} states without an environment, {with} with one");
        without.Should().BeGreaterThan(5);
        with.Should().BeGreaterThan(5);
    }

    /// <summary>An environment that has lost the name of its header is no new one, whatever was done with it.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_used_environment_without_the_name_of_its_header_is_not_created_anew(bool flushes)
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options(OpenMode.CreateNew)))
        {
            FaultTestKit.Put(environment, 1, [1]);
            if (flushes)
                environment.Flush();
            else
                environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        }

        disk.Rename(HeaderFile.FileName, EnvironmentCreator.UnfinishedHeaderName);
        var before = FaultTestKit.Bytes(disk);
        Refused<EnvironmentExistsException>(disk, OpenMode.CreateNew).Message.Should().Contain(EnvironmentCreator.UnfinishedHeaderName);
        Refused<EnvironmentNotFoundException>(disk, OpenMode.OpenExisting).Message.Should().Contain(EnvironmentCreator.UnfinishedHeaderName);
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), before);
        using var again = StorageEnvironment.Open(disk, Options(OpenMode.OpenOrCreate));
        FaultTestKit.Get(again, 1).Should().Equal(1);
    }

    [Fact]
    public void Files_without_a_header_are_damage_in_every_mode()
    {
        foreach (var mode in Enum.GetValues<OpenMode>())
        {
            var disk = new SimulatedDisk();
            using (var environment = StorageEnvironment.Open(disk, Options(OpenMode.CreateNew)))
                FaultTestKit.Put(environment, 1, [1]);
            disk.Delete(HeaderFile.FileName);
            var before = FaultTestKit.Bytes(disk);
            Refused<CorruptionException>(disk, mode);
            FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), before);
        }
    }

    [Fact]
    public void Of_many_threads_that_create_one_environment_one_succeeds()
    {
        for (var round = 0; round < 20; round++)
        {
            using var directory = new TestDirectory();
            var path = Path.Combine(directory, "store");
            using var start = new Barrier(6);
            var outcomes = new object?[6];
            var threads = Enumerable.Range(0, 6).Select(i => new Thread(() =>
            {
                start.SignalAndWait();
                try
                {
                    outcomes[i] = StorageEnvironment.Open(path, Options(OpenMode.CreateNew));
                }
                catch (Exception e)
                {
                    outcomes[i] = e;
                }
            })).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            var winner = outcomes.OfType<StorageEnvironment>().Should().ContainSingle().Subject;
            outcomes.Where(outcome => outcome != winner).Should()
                .OnlyContain(outcome => outcome is EnvironmentExistsException || outcome is EnvironmentInUseException);
            FaultTestKit.Put(winner, 1, [1]);
            winner.Dispose();
            using var again = StorageEnvironment.Open(path, Options(OpenMode.OpenExisting));
            FaultTestKit.Get(again, 1).Should().Equal(1);
        }
    }

    /// <summary>With time to wait, no creator stops at the moment in which another one creates: the others find the environment.</summary>
    [Fact]
    public void Of_many_processes_that_create_one_environment_one_succeeds_and_the_others_find_it()
    {
        const int processes = 4;
        for (var round = 0; round < 3; round++)
        {
            using var directory = new TestDirectory();
            var path = Path.Combine(directory, "store");
            var creators = Enumerable.Range(0, processes).Select(_ => new CreatorProcess(path)).ToList();
            try
            {
                creators.ForEach(creator => creator.WaitUntilReady());
                creators.ForEach(creator => creator.Create());
                var outcomes = creators.Select(creator => creator.Outcome()).ToList();
                output.WriteLine(string.Join(", ", outcomes));
                outcomes.Should().BeEquivalentTo(["created", .. Enumerable.Repeat(nameof(EnvironmentExistsException), processes - 1)]);
            }
            finally
            {
                creators.ForEach(creator => creator.Dispose());
            }

            using var environment = StorageEnvironment.Open(path, Options(OpenMode.OpenExisting));
            environment.Verify().Problems.Should().BeEmpty();
        }
    }

    private static StorageOptions Options(OpenMode mode) => new()
    {
        OpenMode = mode,
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
    };

    private static Action Opening(string path, StorageOptions options) => () => StorageEnvironment.Open(path, options).Dispose();

    private static T Refused<T>(SimulatedDisk disk, OpenMode mode)
        where T : Exception
    {
        var failure = FluentActions.Invoking(() => StorageEnvironment.Open(disk, Options(mode)).Dispose()).Should().Throw<T>().Which;
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        return failure;
    }

    private static bool HasHeader(SimulatedDisk disk) => disk.List().Any(entry => entry.Name == HeaderFile.FileName);
}
