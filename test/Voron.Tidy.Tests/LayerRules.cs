namespace Voron.Tidy.Tests;

/// <summary>The layers of the engine, which of them each may use, and the references that break this. CONTRIBUTING.md has the table.</summary>
internal static class LayerRules
{
    private const string Root = "";

    /// <summary>The lowest layers, in their order: every layer may use them.</summary>
    private static readonly string[] Lowest = ["Testing", "Primitives", "Format", "IO", "Compression"];

    /// <summary>The layers above them, from the bottom to the top, each with the layers that it uses. The root uses all.</summary>
    private static readonly (string Layer, string[] Uses)[] Upper =
    [
        ("Keys", []),
        ("Paging", []),
        ("ChangeTracking", ["Paging"]),
        ("Scratch", []),
        ("FreeSpace", ["Paging"]),
        ("Journal", []),
        ("Trees/Pages", ["Paging"]),
        ("Trees/Arrays", ["Paging"]),
        ("Trees/KeyHeads", ["Paging", "Trees/Pages"]),
        ("Trees/IdSets", ["Paging", "Trees/Arrays"]),
        ("Trees/ValueSets", ["Paging", "Trees/Pages"]),
        ("Trees", ["Paging", "Trees/Pages", "Trees/Arrays", "Trees/KeyHeads", "Trees/IdSets", "Trees/ValueSets"]),
        ("Trees/Batches", ["Paging", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets", "Trees"]),
        ("Recording", []),
        ("Recovery", ["Paging", "ChangeTracking", "Scratch", "Journal"]),
        ("Snapshots", ["Paging", "Scratch", "Trees/KeyHeads"]),
        ("Transactions",
        [
            "Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets", "Trees/ValueSets",
            "Trees", "Trees/Batches", "Recording", "Snapshots",
        ]),
        ("Flushing", ["Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Snapshots", "Transactions"]),
        ("Staging", ["Paging", "FreeSpace", "Transactions"]),
        ("Maintenance",
        [
            "Paging", "FreeSpace", "Trees/Pages", "Trees/Arrays", "Trees/IdSets", "Trees/ValueSets", "Trees", "Snapshots", "Transactions",
        ]),
        ("Diagnostics", ["Paging", "Scratch", "Journal", "Trees/KeyHeads", "Recovery", "Snapshots", "Transactions"]),
        ("Opening",
        [
            "Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Trees/KeyHeads", "Recovery", "Snapshots", "Transactions", "Flushing",
            "Maintenance",
        ]),
        ("Compaction",
        [
            "Paging", "FreeSpace", "Trees", "Snapshots", "Transactions", "Flushing", "Staging", "Maintenance",
        ]),
        ("Dropping", ["Transactions", "Flushing"]),
        ("Dictionaries", ["Paging", "Trees", "Snapshots", "Transactions"]),
        ("Backup",
        [
            "Paging", "ChangeTracking", "FreeSpace", "Trees/Pages", "Trees", "Snapshots", "Transactions", "Flushing", "Maintenance",
        ]),
        ("Salvaging", ["Paging", "Scratch", "FreeSpace", "Journal", "Trees/Pages", "Trees/Arrays", "Trees/IdSets", "Trees", "Recovery", "Opening"]),
    ];

    /// <summary>The layers above the public API, which use its handles and what lies behind them. The root does not know them.</summary>
    private static readonly string[] AboveRoot = ["Tables", "Feeds"];

    /// <summary>
    /// The only references from the root to layers above it: at its end, a salvage makes tables usable; and an environment trims its feeds, and
    /// deletes rows past their time.
    /// </summary>
    private static readonly (string From, string To)[] Doors =
    [
        ("SalvageTarget.cs", "Tables/TableSalvage.cs"),
        ("StorageEnvironment.cs", "Feeds/FeedRetention.cs"),
        ("StorageEnvironment.cs", "Tables/ExpiryRuns.cs"),
    ];

    /// <summary>Folders that belong to the layer above them.</summary>
    private static readonly string[] PartsOfLayers = ["IO/Posix", "IO/Windows"];

    /// <summary>Options, reports and exceptions: plain data that every layer may use, and that uses nothing of the engine.</summary>
    private static readonly string[] SharedFiles =
    [
        "StorageOptions.cs", "Durability.cs",
        "OpenMode.cs", "ScrubClock.cs", "JournalCompression.cs", "TornPageProtection.cs", "CommitReport.cs", "FlushReport.cs",
        "SlowReaderReport.cs", "RecoveryReport.cs", "VerificationReport.cs", "EnvironmentStatistics.cs", "TreeStatistics.cs", "CommitOutcome.cs",
        "DroppedTreeStatistics.cs", "ValueCompression.cs",
        "BackupFault.cs", "BackupInfo.cs", "BackupProgress.cs", "BackupReport.cs", "BackupSetEntry.cs",
        "RestoreOptions.cs", "RestoreProgress.cs", "RestoreReport.cs", "CompactionOptions.cs", "CompactionProgress.cs", "CompactionReport.cs",
        "SalvageDamage.cs", "SalvageGrade.cs", "SalvageOptions.cs", "SalvageProgress.cs", "SalvagedTree.cs",
    ];

    /// <summary>
    /// The only files that may use each other: the state of a tree lists the cursors that must save their positions before a change.
    /// </summary>
    private static readonly string[] AllowedCycle = ["Trees/TreeCursor.cs", "Trees/TreeState.cs"];

    public static bool IsShared(string path) =>
        SharedFiles.Contains(path)
        || (!path.Contains('/') && path.EndsWith("Exception.cs", StringComparison.Ordinal));

    public static IReadOnlyList<string> FoldersThatAreNoLayer(IEnumerable<string> paths) =>
        paths.Where(path => !IsShared(path)).Select(Folder).Distinct().Where(folder => !IsLayer(folder)).ToList();

    public static string Namespace(string path) =>
        IsShared(path) || Folder(path) == Root ? "Voron" : "Voron." + Folder(path).Replace('/', '.');

    /// <summary>References to a layer that the referring one may not use, and those from shared files to anything but shared files.</summary>
    public static IReadOnlyList<SourceReference> ForbiddenReferences(SourceGraph graph) =>
        graph.References.Where(reference => IsForbidden(reference.From, reference.To)).ToList();

    /// <summary>The lines of the table that permit a layer to use one that is not below it.</summary>
    public static IReadOnlyList<string> WrongPermissions() =>
        Upper.SelectMany((line, at) => line.Uses.Except(Upper[..at].Select(below => below.Layer)).Select(used => $"{line.Layer} -> {used}"))
            .ToList();

    /// <summary>The permissions that no reference needs.</summary>
    public static IReadOnlyList<string> UnusedPermissions(SourceGraph graph)
    {
        var used = graph.References.Select(reference => (From: Layer(reference.From), To: Layer(reference.To))).ToHashSet();
        return Upper.SelectMany(line => line.Uses.Where(to => !used.Contains((line.Layer, to))).Select(to => $"{line.Layer} -> {to}")).ToList();
    }

    /// <summary>The cycles of files that are not allowed, each with the references that form it, one a line.</summary>
    public static IReadOnlyList<string> ForbiddenCycles(SourceGraph graph) =>
        graph.Cycles().Where(cycle => !cycle.SequenceEqual(AllowedCycle)).Select(cycle => Describe(graph, cycle)).ToList();

    /// <summary>All layers but the root.</summary>
    public static IEnumerable<string> All => [.. Lowest, .. Upper.Select(line => line.Layer), .. AboveRoot];

    /// <summary>
    /// Draws the layers from the top to the bottom as a Mermaid flow chart. An arrow means "uses"; those that follow from others are left out.
    /// </summary>
    public static IEnumerable<string> Picture()
    {
        yield return "flowchart TD";
        foreach (var above in AboveRoot)
            yield return $"  {above} --> root[root: public API]";
        var uses = Upper.ToDictionary(line => line.Layer, line => line.Uses);
        uses.Add("root", [.. uses.Keys]);
        foreach (var layer in uses.Keys.Reverse())
        {
            string[] direct = [.. uses[layer].Where(used => !uses[layer].Any(other => Reaches(uses, other, used)))];
            if (direct.Length > 0)
                yield return $"  {Node(layer)} --> {string.Join(" & ", direct.Select(Node))}";
        }

        yield return $"  {string.Join(" & ", uses.Keys.Where(layer => uses[layer].Length == 0).Select(Node))} --> lowest";
        yield return "  subgraph lowest[every layer above uses these]";
        yield return $"    {string.Join(" --> ", Lowest.Reverse())}";
        yield return "  end";
    }

    private static bool Reaches(Dictionary<string, string[]> uses, string from, string to) =>
        uses[from].Any(used => used == to || Reaches(uses, used, to));

    private static string Node(string layer) => layer.Contains('/') ? $"{layer.Replace('/', '_')}[{layer}]" : layer;

    private static string Describe(SourceGraph graph, IReadOnlyList<string> cycle)
    {
        var inside = graph.References.Where(reference => cycle.Contains(reference.From) && cycle.Contains(reference.To));
        return $"{cycle.Count} files use each other: {string.Join(", ", cycle)}\n  {string.Join("\n  ", inside)}";
    }

    private static bool IsForbidden(string from, string to)
    {
        if (IsShared(to))
            return false;
        if (IsShared(from))
            return true;
        var (user, used) = (Layer(from), Layer(to));
        if (user == used || AboveRoot.Contains(user))
            return false;
        if (user == Root)
            return AboveRoot.Contains(used) && !Doors.Contains((from, to));
        var rank = Array.IndexOf(Lowest, used);
        if (rank >= 0)
            return Array.IndexOf(Lowest, user) is var own && own >= 0 && own < rank;
        return !Upper.Any(line => line.Layer == user && line.Uses.Contains(used));
    }

    private static bool IsLayer(string folder)
    {
        var layer = PartsOfLayers.Contains(folder) ? Folder(folder) : folder;
        return layer == Root || AboveRoot.Contains(layer) || Lowest.Contains(layer) || Upper.Any(line => line.Layer == layer);
    }

    private static string Layer(string path) => Folder(path) is var folder && PartsOfLayers.Contains(folder) ? Folder(folder) : Folder(path);

    private static string Folder(string path) => path[..Math.Max(0, path.LastIndexOf('/'))];
}
