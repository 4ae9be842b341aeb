using System.CommandLine;
using Voron.Tables;
using Voron.Tool.Dumps;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Writes the content of an environment as text.</summary>
internal static class DumpCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var trees = new Argument<string[]>("TREES") { Description = "The trees; all of them by default.", Arity = ArgumentArity.ZeroOrMore };
        var file = new Option<string?>("--file", "-f") { Description = "The file to write, which must not exist; standard output by default." };
        var form = new Option<DumpForm>("--format")
        {
            Description = "jsonlines; or mdb for the format of mdb_dump and db_dump, which has no checksum: what is cut between two trees is not noticed.",
        };
        var range = new KeyRangeOptions();
        var command = new Command("dump", "Writes the content of trees as text.") { directory, trees, file, form };
        range.AddTo(command);
        return command.Runs((parsed, _, stop) =>
        {
            if (range.AreGiven(parsed) && parsed.GetValue(trees) is not { Length: 1 })
                throw new ToolException(ExitCode.Usage, "A range of keys is one of a tree. Name that tree.");

            // Refuses keys that are none before the environment is opened.
            range.RangeOf(parsed);
            using var environment = ToolContext.OpenToRead(parsed.GetRequiredValue(directory));
            using var reading = environment.BeginRead();
            var given = parsed.GetValue(trees);
            var names = given is { Length: > 0 } ? given.Distinct().ToList() : AllTrees(reading, environment.Path);
            foreach (var name in names)
                reading.Open(name, environment.Path);
            var target = parsed.GetValue(file);
            void WriteTo(Stream stream) => Write(reading, names, range.RangeOf(parsed), stream, parsed.GetValue(form), stop);
            if (target is null)
            {
                using var output = StandardStreams.OpenOutput();
                WriteTo(output);
            }
            else
            {
                WriteNew(target, WriteTo);
            }

            return Task.FromResult(ExitCode.Done);
        });
    }

    // A dump of everything must not leave out what it cannot carry.
    private static IReadOnlyList<string> AllTrees(ReadTransaction reading, string path)
    {
        if (reading.GetTableNames() is [var table, ..])
        {
            throw new ToolException(
                ExitCode.Problems, $"'{path}' has a table, '{table}', which a dump cannot carry. Name the trees to dump, or use 'voron backup' or 'voron copy'.");
        }

        return reading.GetTreeNames();
    }

    private static void WriteNew(string file, Action<Stream> write)
    {
        if (Path.Exists(file))
            throw new ToolException(ExitCode.InUse, $"'{file}' exists already. Nothing was written.");
        WholeFile.Write(file, write);
    }

    private static void Write(
        ReadTransaction reading, IReadOnlyList<string> names, KeyRange keys, Stream stream, DumpForm form, CancellationToken stop)
    {
        using var dump = form == DumpForm.Mdb ? (DumpWriter)new MdbWriter(stream) : new JsonLinesWriter(stream);
        foreach (var name in names)
        {
            dump.BeginTree(name);
            foreach (var entry in reading.OpenTree(name).Range(keys))
            {
                stop.ThrowIfCancellationRequested();
                dump.Write(entry.Key, entry.Value);
            }

            dump.EndTree();
        }

        dump.Finish();
    }
}
