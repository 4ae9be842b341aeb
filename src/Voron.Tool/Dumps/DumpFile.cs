using Voron.Tool.Streams;

namespace Voron.Tool.Dumps;

/// <summary>A dump that can be read several times.</summary>
internal sealed class DumpFile : IDisposable
{
    private readonly FileStream _stream;
    private readonly bool _isJson;

    private DumpFile(FileStream stream)
    {
        _stream = stream;
        _isJson = _stream.ReadByte() == '{';
    }

    /// <summary>
    /// Opens a dump. Standard input, or a pipe, is copied to a temporary file first, since nothing is loaded before all of it has been checked.
    /// </summary>
    public static async Task<DumpFile> OpenAsync(string path, CancellationToken stop)
    {
        if (path != "-" && !File.Exists(path))
            throw new ToolException(ExitCode.NothingThere, $"There is no file '{path}'.");
        var input = path == "-" ? StandardStreams.OpenInput() : new FileStream(path, FileMode.Open, FileAccess.Read);
        if (input is FileStream { CanSeek: true } file)
            return new DumpFile(file);
        using (input)
        {
            var copy = PrivateFile.Create(Path.Combine(Path.GetTempPath(), Path.GetRandomFileName()), FileOptions.DeleteOnClose);
            try
            {
                await input.CopyToAsync(copy, stop).ConfigureAwait(false);
                copy.Position = 0;
                return new DumpFile(copy);
            }
            catch
            {
                await copy.DisposeAsync().ConfigureAwait(false);
                throw;
            }
        }
    }

    /// <summary>Reads all of the dump, and checks that it is whole.</summary>
    /// <returns>The names of its trees, null for entries without a tree, and the lengths of the shortest and the longest key.</returns>
    /// <exception cref="ToolException">It is not whole. The message names the line.</exception>
    public DumpContent Check(CancellationToken stop)
    {
        var names = new HashSet<string?>(StringComparer.Ordinal);
        var (shortest, longest) = (int.MaxValue, 0);
        foreach (var entry in Read(stop))
        {
            names.Add(entry.Tree);
            if (entry.Key is not { Length: var length })
                continue;
            (shortest, longest) = (Math.Min(shortest, length), Math.Max(longest, length));
        }

        return new DumpContent(names, shortest, longest);
    }

    public IEnumerable<DumpEntry> Read(CancellationToken stop)
    {
        _stream.Position = 0;
        return _isJson ? JsonLinesReader.Read(_stream, stop) : MdbReader.Read(_stream, stop);
    }

    public void Dispose() => _stream.Dispose();
}
