using System.Diagnostics;

namespace Voron.Documents.Tests.Tool;

/// <summary>Commands that wait end at a signal, and when their reader leaves.</summary>
public sealed class CancellationTests : IDisposable
{
    private const int ExitCancelled = 130;

    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;
    private readonly ToolProcess _tool = new();

    public void Dispose() => _tool.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task An_import_that_waits_for_its_input_is_cancelled(int signals)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Windows has no signals.");
        using var process = _tool.Start("import", "--json", "-");

        // More than a pipe has room for: when it is written, the tool has read the lines at its start.
        await process.StandardInput.WriteAsync("{\"id\":\"a\"}\n{\"id\":\"b\"}\n" + new string('\n', 500_000));
        await process.StandardInput.FlushAsync(_stop);

        // Ctrl+C is handled alike, but shells start processes in the background that do not get it.
        for (var i = 0; i < signals; i++)
        {
            using var kill = Process.Start("kill", ["-TERM", $"{process.Id}"]);
            await kill.WaitForExitAsync(_stop);
        }

        var result = await ToolProcess.EndAsync(process);
        result.Error.Trim().Should().Be("Cancelled. 2 documents are stored.");
        result.ExitCode.Should().Be(ExitCancelled);
        (await _tool.RunAsync("query", "--ids")).ShouldPrint("a\nb");
    }

    [Fact]
    public async Task A_watch_ends_when_its_reader_has_left()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "The test needs a shell.");
        using var server = _tool.Start("serve", "--urls", "http://127.0.0.1:0");
        try
        {
            var url = (await server.StandardOutput.ReadLineAsync(_stop))!.Split(' ')[^1];
            using var client = new HttpClient { BaseAddress = new Uri(url) };
            using var watch = _tool.Start("watch", "--url", url);
            (await watch.StandardError.ReadLineAsync(_stop)).Should().Be("Watching.");
            await PutAsync(client, "a");
            (await watch.StandardOutput.ReadLineAsync(_stop)).Should().StartWith("put {\"id\":\"a\"");
            watch.StandardOutput.Close();
            await PutAsync(client, "b");
            await watch.WaitForExitAsync(_stop).WaitAsync(TestWait.Limit, _stop);
            watch.ExitCode.Should().Be(0);
            (await watch.StandardError.ReadToEndAsync(_stop)).Should().BeEmpty();
        }
        finally
        {
            server.Kill();
            await server.WaitForExitAsync(CancellationToken.None);
        }
    }

    [Fact]
    public async Task A_watch_needs_a_url_of_a_server()
    {
        (await _tool.RunAsync("watch", "--url", "junk")).ShouldFail("'junk' is no URL of a server");
        (await _tool.RunAsync("watch", "--url", "file:///tmp")).ShouldFail("'file:///tmp' is no URL of a server");
    }

    private static async Task PutAsync(HttpClient client, string id)
    {
        using var content = new StringContent("{}");
        (await client.PutAsync($"/collections/documents/documents/{id}", content, TestContext.Current.CancellationToken)).EnsureSuccessStatusCode();
    }
}
