using Spectre.Console;
using Voron.Documents.Tool;

namespace Voron.Documents.Tests;

/// <summary>The prompt answers each line, and continues after errors.</summary>
[Quick]
public sealed class PromptTests : IDisposable
{
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();
    private readonly StringWriter _output = new();
    private readonly Prompt _prompt;

    public PromptTests()
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Out = new AnsiConsoleOutput(_output) });
        console.Profile.Width = 200;
        _prompt = new Prompt(_store, "items", console);
    }

    public void Dispose() => _store.Dispose();

    [Fact]
    public async Task Lines_are_commands_and_queries()
    {
        (await AskAsync("use items")).Should().BeEmpty();
        for (var i = 10; i < 55; i++)
            (await AskAsync($$"""put {"id":"d{{i}}","size":{{i}},"name":"[red]{{i}}"}""")).Trim().Should().Be($"stored: d{i}");
        (await AskAsync("size >= 50 order by size desc")).Should().Contain("[red]54").And.Contain("5 found").And.NotContain("looked at");
        (await AskAsync("index add size")).Trim().Should().Be("indexes: $.size");
        await AskAsync("explain on");
        (await AskAsync("query size < 50")).Should().Contain("20 found, and there may be more").And.Contain("index $.size");
        (await AskAsync("next")).Should().Contain("d30").And.Contain("20 found");
        (await AskAsync("next")).Should().Contain("0 found");
        (await AskAsync("next")).Trim().Should().Be("There is no next page.");
        (await AskAsync("get d10")).Trim().Should().Be("""{"id":"d10","size":10,"name":"[red]10"}""");
        (await AskAsync("delete d10")).Trim().Should().Be("deleted: d10");
        (await AskAsync("delete d10")).Trim().Should().Be("There is no document 'd10'.");
        (await AskAsync("stats")).Should().Contain("items").And.Contain("44");
        (await AskAsync("index drop size")).Trim().Should().Be("indexes: none");
        (await AskAsync("help")).Should().Contain("index add PATH");
        (await _prompt.AnswerAsync("exit", TestContext.Current.CancellationToken)).Should().BeFalse();
    }

    [Theory]
    [InlineData("size >", "cannot be read")]
    [InlineData("get x", "There is no collection 'items'")]
    [InlineData("index maybe", "is no command")]
    [InlineData("put nonsense", "The text is no JSON")]
    [InlineData("use ", "The name of a collection")]
    [InlineData("", "")]
    public async Task An_error_does_not_end_it(string line, string message)
    {
        if (line.StartsWith("put", StringComparison.Ordinal))
            await AskAsync("use items");
        (await AskAsync(line)).Should().MatchRegex($"(?s)^.*{System.Text.RegularExpressions.Regex.Escape(message)}.*$");
        (await AskAsync("use items")).Should().BeEmpty();
        _prompt.Sign.Should().Be("items> ");
    }

    private async Task<string> AskAsync(string line)
    {
        _output.GetStringBuilder().Clear();
        (await _prompt.AnswerAsync(line, TestContext.Current.CancellationToken)).Should().BeTrue();
        return _output.ToString();
    }
}
