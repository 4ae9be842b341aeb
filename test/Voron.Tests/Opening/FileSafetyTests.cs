using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>
/// Links and pipes in the place of files are not followed or waited for, and only the owner may read the files that the engine creates.
/// </summary>
public sealed class FileSafetyTests
{
    private const UnixFileMode Owner = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    [Theory]
    [InlineData("voron.lock")]
    [InlineData("voron.header")]
    [InlineData("voron.header.creating")]
    [InlineData("voron.data")]
    [InlineData("voron.data.creating")]
    [InlineData("voron.scratch")]
    [InlineData("scratch.tmp")]
    [InlineData("journal-00000001.voron")]
    [InlineData("journal-00000001.voron.new")]
    [InlineData("rewrite-00000002.voron")]
    public void A_link_in_the_place_of_a_file_is_not_followed(string name)
    {
        using var directory = new TemporaryDirectory();
        var victim = Path.Combine(directory.Path, "victim");
        File.WriteAllText(victim, "precious");
        var path = Path.Combine(directory.Path, "new");
        Directory.CreateDirectory(path);
        TestLinks.ToFile(Path.Combine(path, name), victim);
        try
        {
            using var environment = StorageEnvironment.Open(path, FaultTestKit.Options());
            FaultTestKit.Put(environment, 1, [1]);
            environment.Flush();
        }
        catch (VoronException e)
        {
            e.Message.Should().Contain(path);
        }

        File.ReadAllText(victim).Should().Be("precious");
        File.ResolveLinkTarget(Path.Combine(path, name), false)!.FullName.Should().Be(victim, "the link belongs to the user");
    }

    [Theory]
    [InlineData("voron.header")]
    [InlineData("voron.data")]
    [InlineData("journal-00000001.voron")]
    public void A_file_of_an_environment_that_was_moved_and_linked_is_refused(string name)
    {
        using var directory = Place.Killed(3);
        using var elsewhere = new TemporaryDirectory();
        var file = Path.Combine(directory.Path, name);
        File.Move(file, Path.Combine(elsewhere.Path, name));
        TestLinks.ToFile(file, Path.Combine(elsewhere.Path, name));
        foreach (var readOnly in new[] { true, false })
        {
            var open = () => StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = readOnly });
            open.Should().Throw<StorageAccessException>().WithMessage($"*{name}*symbolic link*");
        }
    }

    [Theory]
    [InlineData("voron.header", true)]
    [InlineData("voron.header", false)]
    [InlineData("voron.data", true)]
    [InlineData("voron.data", false)]
    [InlineData("journal-00000001.voron", true)]
    [InlineData("journal-00000001.voron", false)]
    public void A_pipe_in_the_place_of_a_file_is_refused_at_once(string name, bool readOnly)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "wants a pipe among the files");
        using var directory = Place.Killed(3);
        var file = Path.Combine(directory.Path, name);
        File.Delete(file);
        Place.Run("mkfifo", file);
        Exception? failure = null;
        var opening = new Thread(() =>
        {
            try
            {
                StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = readOnly }).Dispose();
            }
            catch (VoronException e)
            {
                failure = e;
            }
        })
        { IsBackground = true };
        opening.Start();
        opening.Join(TestWait.Limit).Should().BeTrue("an opening must not wait for a pipe");
        failure.Should().BeAssignableTo<VoronException>().Which.Message.Should().Contain(name);
    }

    [Fact]
    public void New_files_are_for_their_owner_alone()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "wants permissions of POSIX systems");
        using var directory = new TemporaryDirectory();
        var path = Path.Combine(directory.Path, "a", "b");
        Fill(path, new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 64 << 10, MaxJournalFileBytes = 64 << 10 }, () =>
        {
            new DirectoryInfo(path).UnixFileMode.Should().Be(Owner | UnixFileMode.UserExecute);
            foreach (var file in Directory.GetFiles(path))
                new FileInfo(file).UnixFileMode.Should().Be(Owner, "of {0}", file);
        });
    }

    private static void Fill(string path, StorageOptions options, Action check)
    {
        using var environment = StorageEnvironment.Open(path, options);
        using (environment.BeginRead())
        {
            for (var i = 0; i < 20; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 9000));
            environment.Internals.WriteJournalSnapshot();
            check();
        }
        environment.Flush();
        check();
    }
}
