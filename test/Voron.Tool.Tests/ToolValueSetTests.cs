using System.Text;
using Voron.Tests.Faults;

namespace Voron.Tool.Tests;

/// <summary>What the tool shows of trees of value sets, and what it refuses.</summary>
public sealed class ToolValueSetTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Keys_are_listed_with_their_counts_and_values_one_by_one()
    {
        Fill();
        (await ToolRun.Done("scan", Store, "groups")).Lines.Should().Equal("ann\t3 values", "bob\t1 values", "carl\t300 values");
        (await ToolRun.Done("scan", Store, "groups", "--reverse", "--limit", "2")).Lines.Should().Equal("carl\t300 values", "bob\t1 values");
        (await ToolRun.Done("scan", Store, "groups", "--from", "b", "--to", "c")).Lines.Should().Equal("bob\t1 values");
        (await ToolRun.Done("scan", Store, "groups", "--prefix", "a", "-o", "json")).Lines.Should().Equal("""{"k":"ann","values":3}""");
        (await ToolRun.Done("get", Store, "groups", "ann")).Lines.Should().Equal("admin", "audio", "staff");
        (await ToolRun.Done("get", Store, "groups", "carl")).Lines.Should().HaveCount(300);
        (await ToolRun.Of("get", Store, "groups", "none")).Code.Should().Be(ExitCode.NothingThere);
        (await ToolRun.Of("get", Store, "groups", "ann", "--raw")).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Done("trees", Store)).Output.Should().Contain("value sets").And.Contain("304");
    }

    private void Fill()
    {
        using var environment = StorageEnvironment.Open(Store, FaultTestKit.Options());
        environment.Write(writing =>
        {
            var groups = writing.CreateValueSetTree("groups");
            foreach (var group in new[] { "staff", "audio", "admin" })
                groups.Add("ann"u8, Encoding.UTF8.GetBytes(group));
            groups.Add("bob"u8, "staff"u8);
            for (var i = 0; i < 300; i++)
                groups.Add("carl"u8, Encoding.UTF8.GetBytes($"group {i}"));
        });
    }
}
