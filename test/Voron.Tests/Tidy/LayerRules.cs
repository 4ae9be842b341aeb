namespace Voron.Tests.Tidy;

/// <summary>The layers of the engine in their order, and what breaks it. CONTRIBUTING.md has the table.</summary>
internal static class LayerRules
{
    private const string Root = "";

    /// <summary>The folders of src/Voron. Each uses only those before it, and the root uses all.</summary>
    private static readonly string[] Layers =
    [
        "Testing", "Primitives", "Format", "IO", "Paging", "Scratch", "FreeSpace", "Journal", "Trees/Pages", "Trees/KeyHeads", "Trees",
        "Trees/Batches", "Recovery", "Snapshots", "Transactions", "Flushing", "Maintenance", "Diagnostics", "Opening", Root,
    ];

    /// <summary>Folders that belong to the layer above them.</summary>
    private static readonly string[] PartsOfLayers = ["IO/Posix", "IO/Windows"];

    /// <summary>Options, reports and exceptions: plain data that every layer may use, and that uses nothing of the engine.</summary>
    private static readonly string[] SharedFiles =
    [
        "StorageOptions.cs", "ScrubClock.cs", "JournalCompression.cs", "TornPageProtection.cs", "CommitReport.cs", "FlushReport.cs",
        "SlowReaderReport.cs", "RecoveryReport.cs", "VerificationReport.cs", "EnvironmentStatistics.cs", "TreeStatistics.cs", "CommitOutcome.cs",
    ];

    /// <summary>
    /// The only files that may use each other: the state of a tree lists the cursors that must save their positions before a change.
    /// </summary>
    private static readonly string[] AllowedCycle = ["Trees/TreeCursor.cs", "Trees/TreeState.cs"];

    public static bool IsShared(string path) =>
        SharedFiles.Contains(path) || path.StartsWith("Exceptions/", StringComparison.Ordinal)
        || (!path.Contains('/') && path.EndsWith("Exception.cs", StringComparison.Ordinal));

    public static IReadOnlyList<string> FoldersThatAreNoLayer(IEnumerable<string> paths) =>
        paths.Where(path => !IsShared(path)).Select(Folder).Distinct().Where(folder => Rank(folder) < 0).ToList();

    public static string Namespace(string path) =>
        IsShared(path) || Folder(path) == Root ? "Voron" : "Voron." + Folder(path).Replace('/', '.');

    /// <summary>References to a layer above, and those from shared files to anything but shared files.</summary>
    public static IReadOnlyList<SourceReference> UpwardReferences(SourceGraph graph) =>
        graph.References.Where(reference => IsUpward(reference.From, reference.To)).ToList();

    /// <summary>The cycles of files that are not allowed, each with the references that form it, one a line.</summary>
    public static IReadOnlyList<string> ForbiddenCycles(SourceGraph graph) =>
        graph.Cycles().Where(cycle => !cycle.SequenceEqual(AllowedCycle)).Select(cycle => Describe(graph, cycle)).ToList();

    private static string Describe(SourceGraph graph, IReadOnlyList<string> cycle)
    {
        var inside = graph.References.Where(reference => cycle.Contains(reference.From) && cycle.Contains(reference.To));
        return $"{cycle.Count} files use each other: {string.Join(", ", cycle)}\n  {string.Join("\n  ", inside)}";
    }

    private static bool IsUpward(string from, string to)
    {
        if (IsShared(to))
            return false;
        return IsShared(from) || Rank(Folder(to)) > Rank(Folder(from));
    }

    private static int Rank(string folder) => Array.IndexOf(Layers, PartsOfLayers.Contains(folder) ? Folder(folder) : folder);

    private static string Folder(string path) => path[..Math.Max(0, path.LastIndexOf('/'))];
}
