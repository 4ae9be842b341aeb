using Voron.Format;
using Voron.Tool.Streams;

namespace Voron.Tool.Dumps;

/// <summary>A dump that can be read several times.</summary>
internal sealed class DumpFile : IDisposable
{
    private readonly FileStream _stream;
    private readonly string _name;
    private readonly bool _isJson;

    private DumpFile(FileStream stream, string path)
    {
        _stream = stream;
        _name = NameOf(path);
        _isJson = _stream.ReadByte() == '{';
    }

    /// <summary>
    /// Opens a dump. Standard input, or a pipe, is copied to a temporary file first, since nothing is loaded before all of it has been checked.
    /// </summary>
    public static async Task<DumpFile> OpenAsync(string path, CancellationToken stop)
    {
        if (path != "-" && !File.Exists(path))
            throw new ToolException(ExitCode.NothingThere, $"There is no file '{path}'.");
        if (path == "-")
            return await CopyAsync(StandardStreams.OpenInput(), path, stop).ConfigureAwait(false);

        // The opening of a named pipe waits for a writer, and its reads do, too.
        var opening = Task.Run(() => new FileStream(path, FileMode.Open, FileAccess.Read), CancellationToken.None);
        var file = await opening.WaitAsync(stop).ConfigureAwait(false);
        return file.CanSeek ? new DumpFile(file, path) : await CopyAsync(StandardStreams.ReadAhead(() => file), path, stop).ConfigureAwait(false);
    }

    private static async Task<DumpFile> CopyAsync(Stream input, string path, CancellationToken stop)
    {
        var copy = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
        try
        {
            using (input)
                return new DumpFile(await CopyToNewAsync(input, copy, stop).ConfigureAwait(false), path);
        }
        catch (IOException failure) when (Failures.CodeOf(failure) == ExitCode.NoRoom)
        {
            var variable = OperatingSystem.IsWindows() ? "TMP" : "TMPDIR";
            throw new ToolException(
                ExitCode.NoRoom,
                $"There is no room for '{copy}', a temporary copy of {NameOf(path)}: {failure.Message}. Nothing was loaded. Set {variable} to a " +
                "directory of another volume.");
        }
    }

    private static async Task<FileStream> CopyToNewAsync(Stream input, string path, CancellationToken stop)
    {
        var copy = PrivateFile.Create(path, FileOptions.DeleteOnClose);
        try
        {
            await input.CopyToAsync(copy, stop).ConfigureAwait(false);
            copy.Position = 0;
            return copy;
        }
        catch
        {
            await copy.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    private static string NameOf(string path) => path == "-" ? "the dump on standard input" : $"the dump '{path}'";

    /// <summary>Reads all of the dump, and checks that it is whole.</summary>
    /// <returns>The sizes of its trees and tables, and the lengths of the shortest and the longest key, and of the longest value of a set.</returns>
    /// <exception cref="ToolException">It is not whole. The message names the line.</exception>
    public DumpContent Check(CancellationToken stop)
    {
        var sections = new Dictionary<DumpSection, SectionSize>();
        var (shortest, longest, longestValue) = (int.MaxValue, 0, 0);
        var last = default(DumpEntry);
        foreach (var entry in Read(stop))
        {
            if (!sections.TryGetValue(entry.Section, out var size))
                sections.Add(entry.Section, size = new SectionSize());

            // As in a dump of several values for a key whose header does not say so.
            if (entry.Value != null && entry.Repeats(last))
                throw LineReader.Bad(_name, entry.Line, $"the key '{entry.KeyText}' comes twice");
            if (entry.Value != null)
                size.Add(entry, last);
            last = entry;
            if (entry.Key is { Length: var length })
                (shortest, longest) = (Math.Min(shortest, length), Math.Max(longest, length));
            if (entry is { Section.Kind: TreeKind.ValueSets, Value: { } value })
                longestValue = Math.Max(longestValue, value.Length);
        }

        return new DumpContent(sections, shortest, longest, longestValue);
    }

    public IEnumerable<DumpEntry> Read(CancellationToken stop)
    {
        _stream.Position = 0;
        var lines = new LineReader(_stream, _name);
        return _isJson ? JsonLinesReader.Read(lines, stop) : MdbReader.Read(lines, stop);
    }

    public void Dispose() => _stream.Dispose();
}
