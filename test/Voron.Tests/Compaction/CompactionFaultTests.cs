using Voron.IO;
using Voron.Maintenance;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Backup;
using Voron.Tests.Faults;

namespace Voron.Tests.Compaction;

/// <summary>Compactions of environments whose device fails, is full, or has changed what it holds.</summary>
public sealed class CompactionFaultTests
{
    private const int Items = 400;

    private static readonly CompactionOptions OneThread = new() { IsOnOneThread = true };

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Damage_that_comes_after_a_page_was_checked_is_never_copied_as_good(bool copies)
    {
        var (kinds, refused, tried) = (new HashSet<string>(), 0, 0);
        for (var victim = 0; victim < 60; victim += SuiteShare.Step(3))
        {
            using var disk = new SimulatedDisk();
            using var environment = MakeFragmented(disk, i => i % 3 == 0);
            environment.Verify().IsSound.Should().BeTrue();
            BackupTestKit.ContentOf(environment).Should().NotBeEmpty();
            if (Damage(disk, environment, victim) is not var (page, kind))
                break;
            tried++;
            using var directory = new TestDirectory();
            var target = Path.Combine(directory, "dense");
            var compacting = async () => copies
                ? await environment.CompactToAsync(target, null, Token)
                : await environment.CompactAsync(OneThread, Token);
            try
            {
                TestContext.Current.TestOutputHelper?.WriteLine($"{page} {kind}: {await compacting()}");
            }
            catch (CorruptionException e)
            {
                e.Message.Should().Contain(disk.Path, "page {0}, {1}", page, kind);
                refused++;
                kinds.Add(kind);
            }

            // A page that did not have to move is where it was.
            environment.Verify().IsSound.Should().BeFalse("page {0}, {1}, was damaged, and must not have been made good", page, kind);
        }

        TestContext.Current.TestOutputHelper?.WriteLine($"{refused} of {tried} compactions were refused: {string.Join(", ", kinds)}.");
        refused.Should().BeGreaterThan(copies ? tried - 1 : tried / 3);
        kinds.Should().BeEquivalentTo("Leaf", "Overflow", "Value");
    }

    [Fact]
    public async Task A_compaction_on_a_full_disk_loses_nothing_and_continues_when_there_is_room()
    {
        var (full, complete) = (0, 0);
        for (var room = 0L; room < 12 << 20; room += 600 << 10)
        {
            using var disk = new SimulatedDisk();

            // What is deleted lies together, so the compaction has to make blocks for its pages.
            using var environment = MakeFragmented(disk, i => i / 40 % 3 == 0);
            var content = BackupTestKit.ContentOf(environment);
            environment.ReclaimSpace();
            var length = disk.List().Single(file => file.Name == DataFile.FileName).Length;
            disk.SpaceLimit = disk.UsedBytes + room - (512 << 10);
            try
            {
                await environment.CompactAsync(OneThread, Token);
                complete++;
            }
            catch (StorageFullException e)
            {
                e.Message.Should().Contain(disk.Path);
                full++;
            }

            disk.List().Single(file => file.Name == DataFile.FileName).Length.Should().BeLessThanOrEqualTo(length);
            BackupTestKit.ContentOf(environment).Should().BeEquivalentTo(content);
            environment.Verify().Problems.Should().BeEmpty();
            disk.SpaceLimit = long.MaxValue;
            FaultTestKit.Put(environment, Items + 1, FaultTestKit.Value(1, 40_000));
            var report = await environment.CompactAsync(OneThread, Token);
            (report.IsComplete || report.ValuesLeft > 0).Should().BeTrue($"{report}");
            environment.Verify().Problems.Should().BeEmpty();
        }

        full.Should().BePositive();
        complete.Should().BePositive();
    }

    [Fact]
    public async Task Each_call_of_a_compaction_may_fail()
    {
        var failed = 0;
        for (var call = 0; ; call += 1 + call / (16 / SuiteShare.Step(4)))
        {
            using var disk = new SimulatedDisk();
            Dictionary<string, string> content;
            using (var environment = MakeFragmented(disk, i => i % 3 == 0))
            {
                content = BackupTestKit.ContentOf(environment);
                var left = call;
                disk.FailNext(_ => left-- == 0, DiskError.Failed);
                try
                {
                    await environment.CompactAsync(OneThread, Token);
                }
                catch (VoronException e)
                {
                    e.Should().Match(error => error is StorageAccessException || error is EnvironmentPoisonedException);
                    e.Message.Should().Contain(disk.Path);
                    failed++;
                }

                disk.ClearFaults();
                BackupTestKit.ContentOf(environment).Should().BeEquivalentTo(content);
                if (left >= 0)
                    break;
            }

            BackupTestKit.ContentOf(disk).Should().BeEquivalentTo(content);
        }

        failed.Should().BeGreaterThan(10);
    }

    // Values of all kinds, of which two thirds are gone; everything is in the data file.
    private static StorageEnvironment MakeFragmented(SimulatedDisk disk, Func<int, bool> isKept)
    {
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var from = 0; from < Items; from += 50)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = from; i < from + 50; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, LengthOf(i)));
            writing.Commit();
        }

        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            for (var i = 0; i < Items; i++)
            {
                if (!isKept(i))
                    tree.Delete(FaultTestKit.Key(i));
            }

            writing.Commit();
        }

        environment.Flush();
        environment.Flush();
        return environment;
    }

    private static int LengthOf(int i) => (i / 3 % 8) switch
    {
        3 => 9_000 + i,
        6 => 70_000 + i,
        _ => 900,
    };

    // Flips a bit of a used leaf, overflow page or large value, those at the end of the file first. Returns its page and its kind.
    private static (long Page, string Kind)? Damage(SimulatedDisk disk, StorageEnvironment environment, int victim)
    {
        var contents = disk.Contents(DataFile.FileName);
        using var file = disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
        for (var page = contents.Length / 4096L - 1; page > 1; page--)
        {
            var described = environment.Internals.DescribePage(page, OwnerSearchMode.WhenUnclear, Token);
            if (described is not { IsUsed: true } || KindOf(described.Content) is not { } kind || victim-- > 0)
                continue;
            var place = page * 4096 + 100;
            file.Write(place, [(byte)(contents[place] ^ 1)]);
            return (page, kind);
        }

        return null;
    }

    private static string? KindOf(PageContent content) => content switch
    {
        PageContent.Leaf => "Leaf",
        PageContent.Overflow or PageContent.InsideOverflow => "Overflow",
        PageContent.Value => "Value",
        _ => null,
    };
}
