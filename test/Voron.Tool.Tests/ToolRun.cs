namespace Voron.Tool.Tests;

/// <summary>What the command-line tool answered.</summary>
internal sealed record ToolRun(ExitCode Code, string Output, string Error)
{
    /// <summary>The lines of the answer.</summary>
    public string[] Lines => Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    /// <summary>The answer, which must be one JSON object.</summary>
    public System.Text.Json.JsonElement Json => System.Text.Json.JsonDocument.Parse(Output).RootElement;

    /// <summary>Runs the tool in this process.</summary>
    public static async Task<ToolRun> Of(params string[] arguments)
    {
        using var output = new StringWriter { NewLine = "\n" };
        using var error = new StringWriter { NewLine = "\n" };
        var code = await Program.RunAsync(arguments, output, error, TestContext.Current.CancellationToken);
        return new ToolRun((ExitCode)code, output.ToString(), error.ToString());
    }

    /// <summary>Runs the tool in this process, which must succeed.</summary>
    public static async Task<ToolRun> Done(params string[] arguments)
    {
        var run = await Of(arguments);
        run.Error.Should().BeEmpty();
        run.Code.Should().Be(ExitCode.Done, $"of {string.Join(' ', arguments)}");
        return run;
    }
}
