using System.Globalization;
using Spectre.Console;
using Tour.Measuring;

namespace Tour.Output;

/// <summary>The terminal, or the file that the output goes to: then without colours, progress bars and control characters.</summary>
internal sealed class Screen
{
    private const int MaxWidth = 110;
    private const int Indent = 3;
    private const int FactWidth = 10;
    private const int NameWidth = 26;
    private const int RateWidth = 12;

    private static readonly Style Plain = Style.Plain;
    private static readonly Style Title = new(decoration: Decoration.Bold);
    private static readonly Style Quoted = new(decoration: Decoration.Italic);
    private static readonly Style Dim = new(decoration: Decoration.Dim);
    private static readonly Style Good = new(Color.Green);
    private static readonly Style Bad = new(Color.Red, decoration: Decoration.Bold);

    private readonly IAnsiConsole _console;
    private readonly bool _isLive;
    private readonly int _width;

    public Screen()
    {
        _console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = Console.IsOutputRedirected ? AnsiSupport.No : AnsiSupport.Detect,
            Interactive = Console.IsOutputRedirected ? InteractionSupport.No : InteractionSupport.Detect,
            Out = new AnsiConsoleOutput(Console.Out),
            Enrichment = new ProfileEnrichment { UseDefaultEnrichers = false },
        });
        _isLive = !Console.IsOutputRedirected && _console.Profile.Capabilities.Ansi;
        _width = _isLive ? Math.Min(MaxWidth, _console.Profile.Width - 1) : MaxWidth;
        _console.Profile.Width = Math.Max(_width, 1);
    }

    /// <summary>Begins a chapter.</summary>
    public void Heading(string text)
    {
        _console.WriteLine();
        _console.WriteLine(text, Title);
    }

    /// <summary>Writes a paragraph of a chapter.</summary>
    public void Say(string text) => Write(text, Plain, Indent);

    /// <summary>Writes what an engine has answered.</summary>
    public void Quote(string text) => Write(text, Quoted, 2 * Indent);

    /// <summary>Writes a paragraph at the left margin.</summary>
    public void SayWide(string text) => Write(text, Plain, 0);

    /// <summary>Writes something with its name before it.</summary>
    public void Fact(string name, string text)
    {
        var lines = Wrapped.Lines(text, _width - FactWidth);
        for (var i = 0; i < lines.Count; i++)
            _console.WriteLine($"{(i == 0 ? name : ""),-FactWidth}{lines[i]}".TrimEnd());
    }

    /// <summary>Writes how much an engine does in a second.</summary>
    public void Rate(string name, double rate, string unit) => _console.WriteLine(
        string.Create(CultureInfo.InvariantCulture, $"{"",Indent}{name,-NameWidth}{rate,RateWidth:N0} {unit}/s"), Good);

    /// <summary>Writes what was checked.</summary>
    public void Check(bool isTrue, string what) => Write(isTrue ? $"checked: {what}" : $"FAILED: {what}", isTrue ? Dim : Bad, Indent);

    /// <summary>Shows a bar for each name while work is done, which reports shares of its own by the number of the name.</summary>
    public void ShowProgress(IReadOnlyList<string> names, Action<Action<int, double>> work)
    {
        if (!_isLive)
        {
            work(static (_, _) => { });
            return;
        }

        _console.Progress().AutoClear(true)
            .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn())
            .Start(context =>
            {
                var tasks = names.Select(name => context.AddTask(Markup.Escape($"{"",Indent}{name,-NameWidth}"), maxValue: 1)).ToList();
                work((number, share) => tasks[number].Value = share);
            });
    }

    /// <summary>Shows that work is being done whose end cannot be foreseen.</summary>
    public Task ShowWorkAsync(string what, Func<Task> work) => _isLive ? _console.Status().StartAsync(Markup.Escape(what), _ => work()) : work();

    /// <inheritdoc cref="ShowWorkAsync(string, Func{Task})"/>
    public async Task<T> ShowWorkAsync<T>(string what, Func<Task<T>> work) => _isLive
        ? await _console.Status().StartAsync(Markup.Escape(what), _ => work())
        : await work();

    /// <summary>Writes the table at the end.</summary>
    public void Table(IReadOnlyList<Rate> rates)
    {
        var table = new Table { Border = _isLive ? TableBorder.Rounded : TableBorder.Simple };
        table.AddColumn("per second").AddColumn(new TableColumn("Voron").RightAligned())
            .AddColumn(new TableColumn("SQLite").RightAligned()).AddColumn(new TableColumn("ratio").RightAligned());
        foreach (var rate in rates)
        {
            table.AddRow(
                Markup.Escape(rate.What), rate.Voron.ToString("N0", CultureInfo.InvariantCulture),
                rate.Sqlite.ToString("N0", CultureInfo.InvariantCulture), rate.Ratio.ToString("F1", CultureInfo.InvariantCulture));
        }

        if (_isLive)
        {
            _console.Write(table);
            return;
        }

        // A table has spaces at the ends of its lines, which a file does not need.
        var text = new StringWriter();
        var writer = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Out = new AnsiConsoleOutput(text) });
        writer.Profile.Width = MaxWidth;
        writer.Write(table);
        foreach (var line in text.ToString().Trim('\n', '\r').Split('\n'))
            _console.WriteLine(line.TrimEnd());
    }

    private void Write(string text, Style style, int indent)
    {
        foreach (var line in Wrapped.Lines(text, _width - indent))
            _console.WriteLine($"{new string(' ', indent)}{line}".TrimEnd(), style);
    }
}
