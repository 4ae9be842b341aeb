namespace Voron.Documents.Tests.Tool;

/// <summary>A command that fails says why, and ends with 1.</summary>
public sealed class CommandTests : IDisposable
{
    private readonly ToolProcess _tool = new();

    public void Dispose() => _tool.Dispose();

    [Theory]
    [InlineData("query")]
    [InlineData("get a")]
    [InlineData("index drop a")]
    [InlineData("attach a file")]
    public async Task A_mistyped_store_is_not_created(string command)
    {
        _tool.WriteBytes("file", "content");
        (await _tool.RunAsync([.. command.Split(' '), "--store", "none"])).ShouldFail("There is no store in 'none'. import or put creates one.");
        Directory.Exists(_tool.PathOf("none")).Should().BeFalse();
    }

    [Fact]
    public async Task A_prompt_creates_a_collection_when_it_stores()
    {
        (await _tool.RunWithInputAsync("", "prompt", "--in", "new")).ShouldPrint("");
        (await _tool.RunAsync("query", "--in", "new")).ShouldFail("There is no collection 'new'");
        (await _tool.RunWithInputAsync("put {\"id\":\"a\"}\n", "prompt", "--in", "new")).ShouldPrint("stored: a");
        (await _tool.RunAsync("query", "--ids", "--in", "new")).ShouldPrint("a");
        (await _tool.RunWithInputAsync("get b\nget a\n", "prompt", "--in", "new")).ExitCode.Should().Be(1);
    }

    [Fact]
    public async Task Missing_things_are_failures()
    {
        (await _tool.RunAsync("put", """{"id":"a"}""")).ShouldPrint("a");
        (await _tool.RunAsync("index", "drop", "nope")).ShouldFail("The collection 'documents' has no index on '$.nope'.");
        (await _tool.RunAsync("attachments", "b")).ShouldFail("There is no document 'b'.");
        (await _tool.RunAsync("attachments", "a")).ShouldPrint("");
        (await _tool.RunAsync("attach", "a", ".")).ShouldFail("'.' is a directory. Name a file.");
        (await _tool.RunAsync("import", "--json", ".")).ShouldFail("'.' is a directory. Name a file.");
        (await _tool.RunAsync("delete", "b", "--expect", "9")).ShouldFail("Document 'b' was not deleted");
        (await _tool.RunAsync("expire", "--never", "x")).ShouldFail("Give a path or --never");
        (await _tool.RunAsync("query", "--store", "")).ShouldFail("--store needs the name of a directory.");
    }

    [Theory]
    [InlineData("search x --take -5", "--take needs a number of 1 or more, not '-5'.")]
    [InlineData("delete a --expect abc", "--expect needs a number of 0 or more, not 'abc'.")]
    [InlineData("import --generate 1.5", "--generate needs a number of 1 or more, not '1.5'.")]
    public async Task A_number_that_is_none_is_refused(string command, string reason)
    {
        var result = await _tool.RunAsync(command.Split(' '));
        result.Error.Trim().Should().Be(reason);
        result.ExitCode.Should().Be(1);
    }
}
