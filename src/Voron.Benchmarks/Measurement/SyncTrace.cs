using System.Text.RegularExpressions;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Reads the lines of strace, for one process with any number of threads. Only calls on files below the directory of the store count.
/// </summary>
/// <param name="store">Its last two names are looked for, because strace resolves links in paths.</param>
internal sealed partial class SyncTrace(string store)
{
    private const string Unfinished = " <unfinished ...>";

    private readonly string _part = $"/{Path.GetFileName(Path.GetDirectoryName(store))}/{Path.GetFileName(store)}/";
    private readonly Dictionary<string, string> _unfinished = [];
    private readonly HashSet<string> _writeThrough = [];
    private readonly List<(ulong From, ulong To)> _maps = [];

    /// <summary>Calls of fsync, fdatasync and msync that succeeded.</summary>
    public long Syncs { get; private set; }

    /// <summary>Writes to descriptors that were opened with O_SYNC or O_DSYNC, and writes with such a flag of their own.</summary>
    public long WriteThroughWrites { get; private set; }

    public void Add(string line)
    {
        var parts = line.Split(' ', 2, StringSplitOptions.TrimEntries);
        if (parts is not [var thread, var text])
            return;
        if (text.EndsWith(Unfinished, StringComparison.Ordinal))
        {
            _unfinished[thread] = text[..^Unfinished.Length];
            return;
        }

        // The line with the result of a call that others interrupted has only the end of its arguments.
        if (Resumed().Match(text) is { Success: true } resumed && _unfinished.Remove(thread, out var begun))
            text = begun + text[resumed.Length..];
        if (Call().Match(text) is { Success: true } call && !call.Groups["result"].Value.StartsWith('-'))
            Add(call.Groups["name"].Value, call.Groups["arguments"].Value, call.Groups["result"].Value);
    }

    private void Add(string name, string arguments, string result)
    {
        switch (name)
        {
            case "open" or "openat" or "creat":
                // A descriptor is used again after it was closed.
                var opened = Descriptor().Match(result).Groups["number"].Value;
                _writeThrough.Remove(opened);
                if (IsOfStore(result) && WriteThrough().IsMatch(arguments))
                    _writeThrough.Add(opened);
                break;
            case "mmap" when IsOfStore(arguments):
                var from = Address(result);
                _maps.Add((from, from + ulong.Parse(arguments.Split(", ")[1], CultureInfo.InvariantCulture)));
                break;
            case "msync" when arguments.Contains("MS_SYNC", StringComparison.Ordinal):
                var address = Address(arguments.Split(',')[0]);
                if (_maps.Exists(map => map.From <= address && address < map.To))
                    Syncs++;
                break;
            case "fsync" or "fdatasync" when IsOfStore(arguments):
                Syncs++;
                break;
            case "write" or "writev" or "pwrite64" or "pwritev" or "pwritev2" when IsOfStore(arguments):
                if (_writeThrough.Contains(Descriptor().Match(arguments).Groups["number"].Value) || WriteThrough().IsMatch(arguments))
                    WriteThroughWrites++;
                break;
        }
    }

    private bool IsOfStore(string text) => text.Contains(_part, StringComparison.Ordinal);

    private static ulong Address(string text) => ulong.Parse(text.AsSpan("0x".Length), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^<\.\.\. \w+ resumed>")]
    private static partial Regex Resumed();

    [GeneratedRegex(@"^(?<name>\w+)\((?<arguments>.*)\)\s+= (?<result>[^?].*)")]
    private static partial Regex Call();

    [GeneratedRegex(@"^(?<number>\d+)<")]
    private static partial Regex Descriptor();

    [GeneratedRegex(@"\b(O|RWF)_D?SYNC\b")]
    private static partial Regex WriteThrough();
}
