using System.Text.Encodings.Web;
using System.Text.Json;
using Spectre.Console;

namespace Voron.Tool;

/// <summary>The forms in which a command answers.</summary>
internal enum OutputForm
{
    Table,
    Json,
}

/// <summary>A list of rows in an answer.</summary>
internal readonly record struct ToolRows(string Name, IReadOnlyList<string> Columns, IReadOnlyList<object?[]> Rows);

/// <summary>Writes answers to standard output, and everything else to standard error.</summary>
internal sealed class ToolOutput
{
    /// <summary>The version of the JSON forms.</summary>
    private const int JsonVersion = 1;

    /// <summary>The width of tables in a file or a pipe, where no line is broken.</summary>
    private const int RedirectedWidth = 100_000;

    private static readonly JsonSerializerOptions Json = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly IAnsiConsole _console;
    private readonly TextWriter _out;
    private readonly TextWriter _error;

    public ToolOutput(OutputForm form, TextWriter output, TextWriter error)
    {
        Form = form;
        _out = output;
        _error = error;
        var isRedirected = output != Console.Out || Console.IsOutputRedirected;
        _console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Out = new AnsiConsoleOutput(output),
            Ansi = isRedirected ? AnsiSupport.No : AnsiSupport.Detect,
            ColorSystem = isRedirected ? ColorSystemSupport.NoColors : ColorSystemSupport.Detect,
        });
        if (isRedirected)
            _console.Profile.Width = RedirectedWidth;
        IsTerminal = !isRedirected && _console.Profile.Capabilities.Ansi;
    }

    public OutputForm Form { get; }

    /// <summary>Whether a person watches on a terminal on which lines can be written over.</summary>
    public bool IsTerminal { get; }

    /// <summary>The console of <see cref="IsTerminal"/>.</summary>
    public IAnsiConsole Terminal => _console;

    /// <summary>Returns an output in the same form on standard error, for an answer beside bytes on standard output.</summary>
    public ToolOutput ForErrors() => new(Form, _error, _error);

    /// <summary>Writes named values: a table of two columns, or one JSON object.</summary>
    public void WriteFacts(IReadOnlyList<(string Name, object? Value)> facts) => WriteFacts(facts, []);

    /// <summary>Writes named values and lists of rows: tables one below the other, or one JSON object.</summary>
    public void WriteFacts(IReadOnlyList<(string Name, object? Value)> facts, IReadOnlyList<ToolRows> lists)
    {
        if (Form == OutputForm.Json)
        {
            var values = new Dictionary<string, object?> { ["version"] = JsonVersion };
            foreach (var (name, value) in facts)
                values[ToIdentifier(name)] = value;
            foreach (var list in lists)
                values[list.Name] = ToObjects(list.Columns, list.Rows);
            WriteJson(values);
            return;
        }

        var table = new Table { Border = TableBorder.None, ShowHeaders = false };
        table.AddColumn("").AddColumn("");
        foreach (var (name, value) in facts.Where(fact => fact.Value is not null))
            table.AddRow(new Text(name), new Text(Shown(value)));
        _console.Write(table);
        foreach (var list in lists.Where(list => list.Rows.Count > 0))
            WriteTable(list.Columns, list.Rows);
    }

    /// <summary>Writes rows: a table, or one JSON object with a list of them.</summary>
    public void WriteRows(string name, IReadOnlyList<string> columns, IReadOnlyList<object?[]> rows)
    {
        if (Form == OutputForm.Json)
        {
            WriteJson(new Dictionary<string, object?> { ["version"] = JsonVersion, [name] = ToObjects(columns, rows) });
            return;
        }

        WriteTable(columns, rows);
    }

    /// <summary>Writes lists of rows: tables, all but the first one only if they have rows, or one JSON object with all.</summary>
    public void WriteRows(ToolRows rows, params IReadOnlyList<ToolRows> others)
    {
        if (Form == OutputForm.Json)
        {
            WriteFacts([], [rows, .. others]);
            return;
        }

        WriteTable(rows.Columns, rows.Rows);
        foreach (var list in others.Where(list => list.Rows.Count > 0))
            WriteTable(list.Columns, list.Rows);
    }

    /// <summary>Writes a line as it is.</summary>
    public void WriteText(string line) => _out.WriteLine(line);

    private void WriteTable(IReadOnlyList<string> columns, IReadOnlyList<object?[]> rows)
    {
        var table = new Table { Border = TableBorder.Simple };
        foreach (var column in columns)
            table.AddColumn(new TableColumn(new Text(column)));
        foreach (var row in rows)
            table.AddRow(row.Select(cell => new Text(Shown(cell))).ToArray<Spectre.Console.Rendering.IRenderable>());
        _console.Write(table);
    }

    private static IEnumerable<Dictionary<string, object?>> ToObjects(IReadOnlyList<string> columns, IReadOnlyList<object?[]> rows) =>
        rows.Select(row => columns.Select((column, i) => (column, row[i])).ToDictionary(cell => ToIdentifier(cell.column), cell => cell.Item2));

    private void WriteJson(Dictionary<string, object?> values) => _out.WriteLine(JsonSerializer.Serialize(values, Json));

    private static string ToIdentifier(string name) =>
        string.Concat(name.Split(' ').Select((word, i) => i == 0 ? word : char.ToUpperInvariant(word[0]) + word[1..]));

    private static string Shown(object? value) => value switch
    {
        null => "",
        bool isTrue => isTrue ? "yes" : "no",
        DateTimeOffset time => time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss.fffffff 'UTC'", System.Globalization.CultureInfo.InvariantCulture),
        double number => number.ToString("N3", System.Globalization.CultureInfo.InvariantCulture),
        IFormattable formattable when value is int or long => formattable.ToString("N0", System.Globalization.CultureInfo.InvariantCulture),
        IFormattable formattable => formattable.ToString(null, System.Globalization.CultureInfo.InvariantCulture),
        _ => value.ToString() ?? "",
    };
}
