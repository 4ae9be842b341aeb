using System.Text;
using Voron.Tool.Shell;

namespace Voron.Tool.Tests;

/// <summary>The shell of the tool: what becomes of its lines, and what ends it.</summary>
public sealed class ShellTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public ShellTests() => _environment = StorageEnvironment.Open(Path.Combine(_directory.Path, "store"));

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Lines_are_commands_and_see_what_the_lines_before_have_done()
    {
        var run = await RunAsync("put t a 1\nput t \"b c\" \"two words\"\nget t \"b c\"\nscan t\ndelete t a\nscan t\n\n  \ntrees -o json\nverify -o json\npage 4 -o json\n");
        run.Error.Should().BeEmpty();
        run.Code.Should().Be(ExitCode.Done);
        run.Lines[..4].Should().Equal("two words", "a\t1", "b c\ttwo words", "b c\ttwo words");
        run.Lines[4].Should().Contain("\"entries\":1");
        run.Lines[5].Should().Contain("\"problems\":0");
        run.Lines[6].Should().Contain("\"page\":4");
        run.Lines.Should().HaveCount(7);
        _environment.GetStatistics().PublishedTransactionId.Should().Be(3, "each put and each delete is a transaction");
    }

    /// <summary>The same press twice, at once after each other, without a process: the system ends it when <c>Press</c> returns false.</summary>
    [Fact]
    public void The_second_interrupt_of_a_line_ends_the_process_and_that_of_another_line_does_not()
    {
        using var stop = new CancellationTokenSource();
        var interrupts = new Interrupts(stop);
        for (var i = 0; i < 2; i++)
        {
            using var line = interrupts.BeginLine(stop.Token);
            interrupts.Press().Should().BeTrue("the first one cancels the line");
            line.Token.IsCancellationRequested.Should().BeTrue();
            stop.IsCancellationRequested.Should().BeFalse("the shell continues with the next line");
            interrupts.Press().Should().BeFalse("the line hangs");
            stop.IsCancellationRequested.Should().BeFalse();
        }

        interrupts.Press().Should().BeTrue("at the prompt, the first one ends the shell");
        stop.IsCancellationRequested.Should().BeTrue();
        interrupts.Press().Should().BeFalse("the shell hangs");
    }

    [Fact]
    public async Task A_line_that_fails_does_not_end_the_shell_and_the_first_one_gives_the_exit_code()
    {
        var run = await RunAsync("put t a 1\nget t none\nnonsense\nget t\nget t a\n");
        run.Code.Should().Be(ExitCode.NothingThere);
        run.Output.Should().Be("1\n");
        run.Error.Should().Contain("'none'").And.Contain("nonsense").And.Contain("'help get'").And.NotContain("--help");
        (await RunAsync("nonsense\nget t none\n")).Code.Should().Be(ExitCode.Usage);
        (await RunAsync("nonsense\n", isInteractive: true)).Code.Should().Be(ExitCode.Done, "a person may make mistakes");
    }

    [Fact]
    public async Task A_change_must_be_allowed()
    {
        await RunAsync("put t a 1\n");
        var run = await RunAsync("put t a 2\ndelete t a\nget t a\n", canWrite: false);
        run.Code.Should().Be(ExitCode.Usage);
        run.Error.Should().Contain("--write");
        run.Output.Should().Be("1\n");
    }

    [Theory]
    [InlineData("exit")]
    [InlineData("quit")]
    public async Task Exit_ends_it_before_the_end_of_the_input(string exit)
    {
        (await RunAsync($"put t a 1\n{exit}\nput t a 2")).Code.Should().Be(ExitCode.Done);
        (await RunAsync("get t a")).Output.Should().Be("1\n");
    }

    [Fact]
    public async Task Help_lists_the_commands_and_their_options()
    {
        (await RunAsync("help\n")).Output.Should().Contain("delete <TREE> <KEY>").And.Contain("exit");
        (await RunAsync("help scan\n")).Output.Should().Contain("--prefix").And.NotContain("DIR");
        (await RunAsync("help put\n")).Output.Should().NotContain("--write").And.NotContain("--create");
        (await RunAsync("help nonsense\n")).Code.Should().Be(ExitCode.Usage);
    }

    /// <summary>The splitter of the library leaves out what follows a mark without its other one: it would delete another key.</summary>
    [Fact]
    public async Task A_line_that_cannot_be_read_as_it_was_meant_does_nothing()
    {
        await RunAsync("put t a 1\n");
        var run = await RunAsync("delete t a \"b\"c\"\nput t a -\n");
        run.Code.Should().Be(ExitCode.Usage);
        run.Error.Should().Contain("quotation mark").And.Contain("\\x2D");
        byte[] bad = [.. "delete t \xFF\n"u8.ToArray()[..9], 0xFF, (byte)'\n', .. "get t a\n"u8];
        run = await RunAsync(bad);
        run.Code.Should().Be(ExitCode.Usage);
        run.Error.Should().Contain("Line 1").And.Contain("UTF-8");
        run.Output.Should().Be("1\n");
    }

    [Fact]
    public async Task Keys_that_look_like_something_else_are_keys()
    {
        var run = await RunAsync("put t @home 1\r\nput t -- -x 2\r\nput t \"\\x22\" 3\r\nput t \\\\ 4\r\nscan t\r\n");
        run.Error.Should().BeEmpty();
        run.Lines.Should().Equal("\"\t3", "-x\t2", "@home\t1", "\\\\\t4");
        var directory = Path.Combine(_directory.Path, "other");
        await ToolRun.Done("put", directory, "t", "@home", "1", "--create", "--write");
        (await ToolRun.Done("get", directory, "t", "@home")).Output.Should().Be("1\n");
    }

    [Fact]
    public async Task A_line_may_be_long_but_not_endless()
    {
        var value = new string('v', 500_000);
        (await RunAsync($"put t a {value}\nget t a\n")).Output.Should().Be(value + "\n");
        var run = await RunAsync($"put t b {new string('v', ShellInput.MaxLineBytes)}\nget t b\nget t a\n");
        run.Code.Should().Be(ExitCode.Usage);
        run.Error.Should().Contain("Line 1").And.Contain("'b'");
        run.Output.Should().Be(value + "\n");
        (await RunAsync(new string('v', 3 * ShellInput.MaxLineBytes))).Code.Should().Be(ExitCode.Usage);
        foreach (var length in Enumerable.Range(ShellInput.MaxLineBytes - 2, 5))
        {
            var around = await RunAsync($"{new string(' ', length)}\nget t none\n");
            around.Code.Should().Be(length <= ShellInput.MaxLineBytes ? ExitCode.NothingThere : ExitCode.Usage);
            around.Error.Should().Contain("'none'");
        }
    }

    [Fact]
    public async Task Ctrl_C_ends_the_line_and_the_next_one_ends_the_shell()
    {
        await RunAsync("put t a 1\nput t b 2\nput t c 3\n");
        using var stop = new CancellationTokenSource();
        var interrupts = new Interrupts(stop);
        using var output = new PressingWriter(line =>
        {
            // During the scan, and later while the shell waits for a line.
            if (line.StartsWith("a\t", StringComparison.Ordinal))
                interrupts.Press().Should().BeTrue();
        });
        using var error = new StringWriter { NewLine = "\n" };
        using var input = new EndlessInput("scan t\nget t b\n", () => interrupts.Press().Should().BeTrue());
        var running = Loop(input, output, error, interrupts, isInteractive: true).RunAsync(stop.Token);
        await FluentActions.Awaiting(() => running).Should().ThrowAsync<OperationCanceledException>();
        stop.IsCancellationRequested.Should().BeTrue();
        error.ToString().Should().Be("Cancelled.\n");
        output.ToString().Should().Be("voron> a\t1\nvoron> 2\nvoron> ");
        interrupts.Press().Should().BeFalse("the system ends a process that does not end");
    }

    [Fact]
    public async Task Ctrl_C_ends_a_script()
    {
        await RunAsync("put t a 1\nput t b 2\n");
        using var stop = new CancellationTokenSource();
        var interrupts = new Interrupts(stop);
        using var output = new PressingWriter(_ => interrupts.Press());
        using var error = new StringWriter { NewLine = "\n" };
        using var input = new MemoryStream(Encoding.UTF8.GetBytes("get t none\nscan t\nget t b\n"));
        (await Loop(input, output, error, interrupts, isInteractive: false).RunAsync(stop.Token)).Should().Be(ExitCode.Cancelled);
        output.ToString().Should().Be("a\t1\n");
    }

    private Task<ToolRun> RunAsync(string lines, bool canWrite = true, bool isInteractive = false) =>
        RunAsync(Encoding.UTF8.GetBytes(lines), canWrite, isInteractive);

    private async Task<ToolRun> RunAsync(byte[] lines, bool canWrite = true, bool isInteractive = false)
    {
        using var output = new StringWriter { NewLine = "\n" };
        using var error = new StringWriter { NewLine = "\n" };
        using var input = new MemoryStream(lines);
        using var stop = new CancellationTokenSource();
        var loop = Loop(input, output, error, new Interrupts(stop), isInteractive, canWrite);
        var code = await loop.RunAsync(TestContext.Current.CancellationToken);
        return new ToolRun(code, output.ToString(), error.ToString());
    }

    private ShellLoop Loop(
        Stream input, StringWriter output, StringWriter error, Interrupts interrupts, bool isInteractive, bool canWrite = true) => new(
        new OpenEnvironment(_environment, canWrite, isShared: true), OutputForm.Table, new ShellInput(input), (output, error), interrupts,
        isInteractive);

    /// <summary>Calls a function with each line that is written.</summary>
    private sealed class PressingWriter(Action<string> written) : StringWriter
    {
        public override string NewLine => "\n";

        public override void WriteLine(string? value)
        {
            base.WriteLine(value);
            written(value ?? "");
        }
    }

    /// <summary>Has some lines, and then calls a function and waits until it is cancelled.</summary>
    private sealed class EndlessInput(string lines, Action waits) : MemoryStream(Encoding.UTF8.GetBytes(lines))
    {
        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var read = await base.ReadAsync(buffer, cancellationToken);
            if (read > 0)
                return read;
            waits();
            await Task.Delay(Timeout.Infinite, cancellationToken);
            return 0;
        }
    }
}
