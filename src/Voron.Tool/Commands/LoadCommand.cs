using System.CommandLine;
using Voron.Format;
using Voron.Tool.Dumps;
using Voron.Tool.Loading;

namespace Voron.Tool.Commands;

/// <summary>Puts the content of a dump into an environment.</summary>
internal static class LoadCommand
{
    private const int MebibyteShift = 20;

    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument("The directory of the environment, which is created if it is missing.");
        var file = new Argument<string>("FILE") { Description = "The dump; - for standard input." };
        var tree = new Option<string?>("--tree") { Description = "The tree for entries without a name of a tree, or for those of a dump that has one tree." };
        var resume = new Option<bool>("--resume")
        {
            Description = "Continues after a load that was interrupted: existing keys are left as they are.",
        };
        var memory = new Option<long>("--memory")
        {
            Description = "The MiB of memory for sorting a large tree that is not in key order; 0 for a sixteenth of the available memory.",
        }.NotNegative().AtMost(long.MaxValue >> MebibyteShift);
        var spill = new Option<string?>("--spill")
        {
            Description = "The directory for the temporary file of that sorting; that of the environment if it is not given.",
        };
        var write = ToolContext.WriteOption();
        var command = new Command("load", "Puts the content of a dump into an environment.") { directory, file, tree, resume, memory, spill, write };
        return command.Runs(async (parsed, output, stop) =>
        {
            // Before the dump is read, which may take long.
            ToolContext.RequireWrite(parsed.GetValue(write));
            var options = new BulkLoadOptions { SpillDirectory = parsed.GetValue(spill) };
            if (options.SpillDirectory is { } temporary && !Directory.Exists(temporary))
                throw new ToolException(ExitCode.NothingThere, $"There is no directory '{temporary}'.");
            if (parsed.GetValue(memory) is > 0 and var mebibytes)
                options.MemoryBytes = mebibytes << MebibyteShift;
            using var dump = await DumpFile.OpenAsync(parsed.GetRequiredValue(file), stop).ConfigureAwait(false);
            var resumes = parsed.GetValue(resume);
            var content = dump.Check(stop);
            var nameOf = NamesFor(content, parsed.GetValue(tree));
            var targets = content.Sections.Keys.Select(section => (Section: section, Name: nameOf(section.Name))).ToHashSet();
            using var environment = ToolContext.OpenToWrite(parsed.GetRequiredValue(directory), isAllowed: true, creates: true);
            ThrowIfRefused(environment, content);
            ThrowIfRefused(environment, targets, resumes);
            var load = new LoadRun(environment, dump, content, nameOf, resumes, options);
            var loaded = await ToolProgress.ShowAsync("load", progress => load.RunAsync(progress, stop)).ConfigureAwait(false);
            var tables = targets.Count(target => target.Section.IsTable);
            output.WriteFacts(
            [
                ("trees", targets.Count - tables), ("tables", tables), ("entries", loaded),
                ("existing entries", resumes ? load.Left : null),
            ]);
            return ExitCode.Done;
        });
    }

    private static void ThrowIfRefused(StorageEnvironment environment, DumpContent content)
    {
        var longest = ValueSetLayout.MaxValueLength((int)environment.GetStatistics().PageSize);
        if (content.LongestSetValue > longest)
        {
            throw new ToolException(
                ExitCode.Problems,
                $"The dump has a value of {content.LongestSetValue} bytes in a set, and '{environment.Path}' takes values of up to {longest} bytes there. Nothing was loaded.");
        }

        if (content.ShortestKey > 0 && content.LongestKey <= environment.MaxKeyLength)
            return;
        var length = content.ShortestKey == 0 ? 0 : content.LongestKey;
        throw new ToolException(
            ExitCode.Problems,
            $"The dump has a key of {length} bytes, and '{environment.Path}' takes keys of 1 to {environment.MaxKeyLength} bytes. Nothing was loaded.");
    }

    // The engine knows which names trees may have.
    private static void ThrowIfRefused(StorageEnvironment environment, IEnumerable<(DumpSection Section, string Name)> targets, bool resumes)
    {
        using var trial = environment.BeginWrite();
        foreach (var (section, name) in targets)
        {
            var what = section.IsTable ? "table" : "tree";
            try
            {
                if (!EntryTarget.Create(trial, section, name).IsEmpty && !resumes)
                    throw new ToolException(ExitCode.InUse, $"The {what} '{name}' has entries already. Give --resume to add those that are missing.");
            }
            catch (Exception e) when (e is ArgumentException or InvalidOperationException)
            {
                throw new ToolException(ExitCode.Problems, $"The dump has a {what} '{name}', which '{environment.Path}' does not take: {e.Message} Nothing was loaded.");
            }
        }
    }

    // A tree that is named on the command line takes what has no name, or the only tree. A dump of several trees would become one.
    private static Func<string?, string> NamesFor(DumpContent content, string? target)
    {
        if (target is null)
            return tree => tree ?? throw new ToolException(ExitCode.Usage, "The dump does not name the tree of its entries. Give --tree.");
        if (content.Sections.Keys.Any(section => section.Name == null))
            return tree => tree ?? target;
        return content.Sections.Count <= 1
            ? _ => target
            : throw new ToolException(ExitCode.Usage, $"The dump names {content.Sections.Count} trees, so --tree cannot name one of them.");
    }
}
