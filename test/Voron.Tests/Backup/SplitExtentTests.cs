using Voron.Backup;
using Voron.Format;
using Voron.Simulation.Disks;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>
/// An overflow extent that was copied in two parts, at different times, may have its end before its beginning. Its pages cannot be checked alone,
/// and are not damaged for that.
/// </summary>
[Quick]
public sealed class SplitExtentTests
{
    private readonly EnvironmentImage _image = EnvironmentImage.Read(MakeEnvironment());

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(16)]
    public async Task An_extent_that_is_split_over_frames_is_checked_as_a_whole(int pagesPerFrame)
    {
        var builder = BackupBuilder.Full(_image, pagesPerFrame);
        (await CheckAsync(builder)).Should().Be(0);
        var page = Extents().Last();
        _image.Page(page + 1)[77] ^= 1;
        var verify = () => Verify(BackupBuilder.Full(_image, pagesPerFrame).Build());
        await verify.Should().ThrowAsync<BackupException>().WithMessage($"*page {page} *");
    }

    [Fact]
    public async Task An_extent_whose_end_comes_first_is_left_to_the_restore()
    {
        var first = Extents().First(page => _image.HeaderOf(page).ExtentPages == 4);
        var builder = MakeSplit(first);
        (await CheckAsync(builder)).Should().Be(4);
        var backup = builder.Build();
        await Verify(backup);
        (await Restore(new SimulatedDisk(), backup)).Verification!.IsSound.Should().BeTrue();

        _image.Page(first + 3)[5] ^= 1;
        backup = MakeSplit(first).Build();
        await Verify(backup);
        var target = new SimulatedDisk();
        var restore = () => Restore(target, backup);
        await restore.Should().ThrowAsync<BackupException>().WithMessage($"*is damaged, and is deleted*");
        target.List().Should().BeEmpty();
    }

    // What was in the place of the beginning before is not used, and is not checked.
    [Fact]
    public async Task An_old_beginning_does_not_spoil_an_extent()
    {
        var first = Extents().First(page => _image.HeaderOf(page).ExtentPages == 4);
        var builder = BackupBuilder.Full(_image);
        var beginning = builder.PagesFrame([first, first + 1]);
        var old = beginning.Copy();
        old.Raw.AsSpan(BackupExtent.Size + PageHeader.Size).Reverse();
        builder.Frames.Insert(0, old);
        builder.Frames.Insert(0, old);
        await Verify(builder.Build());

        // An extent that has come whole, and whose beginning comes again.
        builder.Frames.Insert(builder.Frames.Count - 1, beginning);
        (await CheckAsync(builder)).Should().Be(2);
        await Restore(new SimulatedDisk(), builder.Build());
    }

    private BackupBuilder MakeSplit(long first)
    {
        var builder = BackupBuilder.Full(_image);
        var others = _image.UsedPages.Where(page => page < first || page >= first + 4).ToList();
        builder.Frames.RemoveAll(frame => frame.Kind == BackupFrameKind.Pages);
        List<BuiltFrame> frames = [builder.PagesFrame([first + 2, first + 3])];
        for (var i = 0; i < others.Count; i += 100)
            frames.Add(builder.PagesFrame([.. others.Skip(i).Take(100)]));
        builder.Frames.InsertRange(0, [.. frames, builder.PagesFrame([first, first + 1])]);
        return builder;
    }

    private IEnumerable<long> Extents() => _image.UsedPages.Where(page =>
        _image.HeaderOf(page) is { Kind: PageKind.Overflow, ExtentPages: > 1 } header && header.PageNumber == page);

    private static async Task<long> CheckAsync(BackupBuilder builder)
    {
        await using var reader = await BackupReader.OpenAsync(File(builder.Build()), CancellationToken.None);
        using var checker = new BackupPageChecker(reader.Header);
        await reader.ReadAllAsync(checker, progress: null, CancellationToken.None);
        checker.Check(reader.Content, isFull: true, "a");
        return checker.Unverified;
    }
}
