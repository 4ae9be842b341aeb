using System.Text.RegularExpressions;

namespace Voron.Tool.Tests;

/// <summary>The tool on a terminal and in a pipe: where bars, colours and prompts are, and what is left of them.</summary>
public sealed partial class ToolTerminalTests : IDisposable
{
    private const string HideCursor = "\e[?25l";
    private const string ShowCursor = "\e[?25h";
    private const char BarPart = '━';

    // The time after which a person types again. No test depends on it.
    private static readonly TimeSpan BetweenTries = TimeSpan.FromSeconds(5);

    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    public ToolTerminalTests()
    {
        ToolProcess.RequireLinux();
        using var environment = StorageEnvironment.Open(Store);
        environment.Write(writing =>
        {
            var (tree, value, random) = (writing.CreateTree("t"), new byte[4_000], new Random(1));
            for (var i = 0; i < 300; i++)
            {
                random.NextBytes(value);
                tree.Put(System.Text.Encoding.ASCII.GetBytes($"k{i:D3}"), value);
            }
        });
    }

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_bar_is_on_a_terminal_only_and_nothing_is_left_of_it()
    {
        var shown = await OnTerminalAsync($"$VORON backup {Store} {Store}-1 --rate 2");
        shown.Should().Contain($"{BarPart}").And.Contain("\e[38;5;", "a bar has a colour");
        LastLines(shown).Should().NotContain($"{BarPart}").And.StartWith("id ");
        var dark = await OnTerminalAsync($"$VORON backup {Store} {Store}-2", hasColour: false);
        dark.Should().Contain($"{BarPart}");
        Colours().IsMatch(dark).Should().BeFalse("NO_COLOR says so");
        LastLines(dark).Should().StartWith("id ");
        (await OnTerminalAsync($"$VORON backup {Store} {Store}-3", terminal: "dumb")).Should().NotContain("\e").And.Contain("id ");
        (await OnTerminalAsync($"stty cols 20; $VORON backup {Store} {Store}-4")).Should().Contain(ShowCursor);
        (await OnTerminalAsync($"$VORON backup {Store} - 2>{Store}-error | cat >{Store}-5; cat {Store}-error")).Should().NotContain($"{BarPart}")
            .And.NotContain(HideCursor);
        (await OnTerminalAsync($"$VORON dump {Store} --file {Store}-dump; $VORON load {Store}-loaded {Store}-dump --write")).Should().Contain($"{BarPart}");

        using var piped = ToolProcess.StartScript($"$VORON backup {Store} {Store}-6");
        var run = await piped.EndAsync();
        (run.Output + run.Error).Should().NotContain("\e").And.NotContain($"{BarPart}").And.Contain("id ");
        Directory.GetFileSystemEntries(_directory.Path, "store-?").Should().HaveCount(6);
    }

    [Fact]
    public async Task The_cursor_is_shown_again_after_the_first_and_the_second_interrupt()
    {
        var once = await OnTerminalAsync($"$VORON backup {Store} {Store}-1 --rate 1; echo code $?", "\u0003", BarPart);
        once.Should().Contain("Cancelled.").And.Contain("code 130");
        File.Exists(Store + "-1").Should().BeFalse();

        // The pipe is never read, so that the command hangs.
        var twice = await OnTerminalAsync(
            $"mkfifo {Store}-p; exec 5<>{Store}-p; $VORON backup {Store} - --no-compression >&5; echo code $?",
            "\u0003\u0003", BarPart, pause: 400);
        twice.Should().Contain("code 130");
    }

    [Fact]
    public async Task Top_is_a_table_on_a_terminal_and_lines_where_nothing_can_be_written_over()
    {
        using var environment = StorageEnvironment.Open(Store, new StorageOptions { StatusInterval = TimeSpan.FromMilliseconds(10) });
        var looks = $"$VORON top {Store} --interval 0.1 --count 3";
        (await OnTerminalAsync(looks)).Should().Contain("│").And.Contain("\e[");
        (await OnTerminalAsync($"stty cols 20 rows 5; {looks}; echo code $?")).Should().Contain("code 0");
        var dumb = await OnTerminalAsync(looks, terminal: "dumb");
        dumb.Should().NotContain("│").And.NotContain("\e").And.Contain("commits/s");
        dumb.Trim().Split('\n').Should().HaveCount(4);
        (await OnTerminalAsync($"{looks}; echo code $?", "\u0003", '│')).Should().MatchRegex("code (0|130)");
    }

    [Fact]
    public async Task The_shell_has_a_prompt_on_a_terminal_only()
    {
        var typed = await OnTerminalAsync($"$VORON shell {Store} --write; echo code $?", "put t a b\nget t a\nnonsense\nexit\n", '>');
        typed.Should().Contain("voron> ").And.Contain("b\r\n").And.Contain("nonsense").And.Contain("code 0");
        var ended = await OnTerminalAsync($"$VORON shell {Store}; echo code $?", "\u0004", '>');
        ended.Should().EndWith("voron> \r\ncode 0\r\n");
        (await OnTerminalAsync($"$VORON shell {Store}; echo code $?", "\u0003", '>')).Should().Contain("Cancelled.").And.Contain("code 130");
        using var piped = ToolProcess.StartScript($"printf 'get t a\\nnonsense\\n' | $VORON shell {Store}");
        var run = await piped.EndAsync();
        (run.Code, run.Output).Should().Be((ExitCode.Usage, "b\n"));
        run.Error.Should().NotContain("voron>").And.NotContain("\e");
    }

    /// <summary>Runs a script on a terminal, and returns what that shows. Keys are typed once it shows a character.</summary>
    private static async Task<string> OnTerminalAsync(
        string script, string keys = "", char after = '\0', int pause = 0, string terminal = "xterm-256color", bool hasColour = true)
    {
        using var process = ToolProcess.StartOnTerminal(script, terminal, hasColour);
        var before = new List<byte>();
        if (after != '\0')
        {
            var awaited = System.Text.Encoding.UTF8.GetBytes($"{after}");
            while (before.Count < awaited.Length || !before[^awaited.Length..].SequenceEqual(awaited))
            {
                var read = process.Output.ReadByte();
                read.Should().BeGreaterThanOrEqualTo(0, "'{0}' is awaited", after);
                before.Add((byte)read);
            }
        }

        foreach (var key in keys)
        {
            await Task.Delay(pause, TestContext.Current.CancellationToken);
            await TypeAsync(process, key);
        }

        // A terminal forgets a key that was typed while its mode was being changed, and a slow process sees two interrupts as one. A person would
        // notice.
        var ending = process.EndAsync();
        while (keys.Distinct().Count() == 1 && await Task.WhenAny(ending, Task.Delay(BetweenTries, TestContext.Current.CancellationToken)) != ending)
            await TypeAsync(process, keys[0]);
        var shown = System.Text.Encoding.UTF8.GetString([.. before]) + (await ending).Output;
        shown.LastIndexOf(HideCursor, StringComparison.Ordinal).Should().BeLessThanOrEqualTo(
            shown.LastIndexOf(ShowCursor, StringComparison.Ordinal), "the cursor is shown at the end of: {0}", shown);
        shown.Should().NotContain("   at Voron.", "it is no place for a stack trace");
        return shown;
    }

    private static async Task TypeAsync(ToolProcess process, char key)
    {
        try
        {
            await process.Input.WriteAsync(System.Text.Encoding.ASCII.GetBytes($"{key}"), TestContext.Current.CancellationToken);
            await process.Input.FlushAsync(TestContext.Current.CancellationToken);
        }
        catch (IOException)
        {
            // It has ended.
        }
    }

    // What is written behind the last bar, which has been deleted.
    private static string LastLines(string shown) => shown[(shown.LastIndexOf(ShowCursor, StringComparison.Ordinal) + ShowCursor.Length)..];

    [GeneratedRegex("\e\\[[0-9;]*3[0-9;]*m")]
    private static partial Regex Colours();
}
