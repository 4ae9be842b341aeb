using System.CommandLine;
using Voron.Format;
using Voron.Tool.Contents;
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
            var keys = range.Of(parsed);
            if (keys.AreGiven && parsed.GetValue(trees) is not { Length: 1 })
                throw new ToolException(ExitCode.Usage, "A range of keys is one of a tree. Name that tree.");

            using var environment = ToolContext.OpenToRead(parsed.GetRequiredValue(directory));
            using var reading = environment.BeginRead();
            var given = parsed.GetValue(trees);
            var contents = given is { Length: > 0 }
                ? given.Distinct().Select(name => Content.Open(reading, name, environment.Path)).ToList()
                : Content.OpenAll(reading, environment.Path);
            var target = parsed.GetValue(file);
            void WriteTo(Stream stream) => Write(contents, keys, stream, parsed.GetValue(form), stop);
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

    private static void WriteNew(string file, Action<Stream> write)
    {
        if (Path.Exists(file))
            throw new ToolException(ExitCode.InUse, $"'{file}' exists already. Nothing was written.");
        WholeFile.Write(file, write);
    }

    private static void Write(List<Content> contents, KeyBounds keys, Stream stream, DumpForm form, CancellationToken stop)
    {
        var version = contents.TrueForAll(content => content.Section.Kind == TreeKind.Plain) ? 1 : 2;
        using var dump = form == DumpForm.Mdb ? (DumpWriter)new MdbWriter(stream) : new JsonLinesWriter(stream, version);
        foreach (var content in contents)
        {
            dump.Begin(content.Section);
            content.Dump(keys, dump, stop);
            dump.End();
        }

        dump.Finish();
    }
}
