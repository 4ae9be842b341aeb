using System.Text;

namespace Voron.Documents.Tool;

/// <summary>Reads lines that are typed, with the keys of a shell: Ctrl+C discards a line, Ctrl+U empties it, and Ctrl+D in an empty line ends the input.</summary>
/// <param name="read">Waits for a key, and does not show it.</param>
/// <param name="output">The terminal.</param>
internal sealed class LineEditor(Func<ConsoleKeyInfo> read, TextWriter output)
{
    private const char CtrlC = '\u0003';
    private const char CtrlD = '\u0004';
    private const char CtrlU = '\u0015';

    private readonly StringBuilder _line = new();

    /// <summary>Returns a line; null at the end of the input.</summary>
    /// <param name="sign">The text before the line.</param>
    public string? Read(string sign)
    {
        Begin(sign);
        while (true)
        {
            var key = read();
            switch (key.KeyChar)
            {
                case CtrlC:
                    output.WriteLine("^C");
                    Begin(sign);
                    break;
                case CtrlD when _line.Length == 0:
                    output.WriteLine();
                    return null;
                case CtrlU:
                    Erase(_line.Length);
                    break;
                case '\r' or '\n':
                    output.WriteLine();
                    return _line.ToString();
                default:
                    Edit(key);
                    break;
            }
        }
    }

    private void Begin(string sign)
    {
        _line.Clear();
        output.Write(sign);
    }

    private void Edit(ConsoleKeyInfo key)
    {
        if (key.Key == ConsoleKey.Backspace)
        {
            Erase(Math.Min(1, _line.Length));
        }
        else if (!char.IsControl(key.KeyChar))
        {
            _line.Append(key.KeyChar);
            output.Write(key.KeyChar);
        }
    }

    private void Erase(int count)
    {
        // Both halves of a character that has two.
        if (count > 0 && count < _line.Length && char.IsLowSurrogate(_line[^1]))
            _line.Length--;
        _line.Length -= count;
        for (var i = 0; i < count; i++)
            output.Write("\b \b");
    }
}
