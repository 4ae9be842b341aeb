using System.Text;

namespace Voron.Tool.Tests;

/// <summary>What dropped trees still have is part of the space that the tool shows, until their pages are free.</summary>
public sealed class ToolDroppedTreeTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    private string Page => Path.Combine(_directory.Path, "page.html");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Dropped_trees_are_shown_until_their_pages_are_free()
    {
        var left = DropHalf("old", out var pageSize);
        left.Pages.Should().BeGreaterThan(10);

        var trees = (await ToolRun.Done("trees", Store, "-o", "json")).Json;
        trees.GetProperty("trees").EnumerateArray().Select(tree => tree.GetProperty("name").GetString()).Should().Equal("kept");
        var dropped = trees.GetProperty("droppedTrees").EnumerateArray().Should().ContainSingle().Subject;
        dropped.GetProperty("droppedTree").GetInt64().Should().Be(left.TreeId);
        dropped.GetProperty("pagesLeft").GetInt64().Should().Be(left.Pages);
        dropped.GetProperty("bytesLeft").GetInt64().Should().Be(left.Pages * pageSize);
        (await ToolRun.Done("trees", Store)).Output.Should().Contain("kept").And.Contain("pages left");

        var stats = (await ToolRun.Done("stats", Store, "-o", "json")).Json;
        stats.GetProperty("trees").GetInt32().Should().Be(1);
        stats.GetProperty("droppedTrees").GetInt32().Should().Be(1);
        stats.GetProperty("pagesOfDroppedTrees").GetInt64().Should().Be(left.Pages);
        stats.GetProperty("bytesOfDroppedTrees").GetInt64().Should().Be(left.Pages * pageSize);
        await ToolRun.Done("stats", Store, "--html", Page);
        File.ReadAllText(Page).Should().Contain("1 dropped tree with").And.Contain("freed in the background");

        await FreeAsync();
        (await ToolRun.Done("trees", Store, "-o", "json")).Json.GetProperty("droppedTrees").GetArrayLength().Should().Be(0);
        (await ToolRun.Done("trees", Store)).Output.Should().NotContain("pages left");
        (await ToolRun.Done("stats", Store, "-o", "json")).Json.GetProperty("bytesOfDroppedTrees").GetInt64().Should().Be(0);
        await ToolRun.Done("stats", Store, "--html", Page + "2");
        File.ReadAllText(Page + "2").Should().NotContain("dropped tree");
    }

    [Fact]
    public void A_snapshot_lists_what_dropped_trees_had_when_it_began()
    {
        var left = DropHalf("old", out _);
        using var environment = StorageEnvironment.Open(Store, new StorageOptions { BackgroundFlush = false });
        using var before = environment.BeginRead();
        long freed;
        using (var writing = environment.BeginWrite())
        {
            writing.Body.CutDroppedTree((uint)left.TreeId, 7, out freed);
            writing.Commit();
        }

        before.GetDroppedTrees().Should().Equal(left);
        using var after = environment.BeginRead();
        after.GetDroppedTrees().Should().Equal(left with { Pages = left.Pages - freed });
        after.GetTreeNames().Should().Equal("kept");
        after.Dispose();
        after.Invoking(reading => reading.GetDroppedTrees()).Should().Throw<ObjectDisposedException>();
    }

    // As a process that was killed in the midst of a drop leaves it.
    private DroppedTreeStatistics DropHalf(string name, out int pageSize)
    {
        using var environment = StorageEnvironment.Open(Store, new StorageOptions { BackgroundFlush = false });
        environment.Write(writing =>
        {
            writing.CreateTree("kept").Put("key"u8, "value"u8);
            var tree = writing.CreateTree(name);
            for (var i = 0; i < 2_000; i++)
                tree.Put(Encoding.UTF8.GetBytes($"{i:D6}"), new byte[i % 100 == 0 ? 10_000 : 100]);
        });
        using (var writing = environment.BeginWrite())
        {
            writing.Body.DropTree(Encoding.UTF8.GetBytes(name), fewPages: 0).HasPages.Should().BeTrue();
            writing.Commit();
        }

        using var reading = environment.BeginRead();
        pageSize = environment.GetStatistics().PageSize;
        return reading.GetDroppedTrees().Should().ContainSingle().Subject;
    }

    private async Task FreeAsync()
    {
        await using var environment = StorageEnvironment.Open(Store);
        await TestWait.UntilAsync(() => !IsLeft());

        bool IsLeft()
        {
            using var reading = environment.BeginRead();
            return reading.GetDroppedTrees().Count > 0;
        }
    }
}
