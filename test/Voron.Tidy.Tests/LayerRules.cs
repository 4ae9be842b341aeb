namespace Voron.Tidy.Tests;

/// <summary>The layers of the engine, which of them each may use, and the references that break this. CONTRIBUTING.md has the table.</summary>
internal static class LayerRules
{
    private const string Api = "Api";

    /// <summary>The lowest layers, in their order: every layer may use them. Contracts are plain data, and use nothing of the engine.</summary>
    private static readonly string[] Lowest = ["Contracts", "Testing", "Primitives", "Format", "IO", "Compression"];

    /// <summary>The layers above them, from the bottom to the top, each with the layers that it uses.</summary>
    private static readonly (string Layer, string[] Uses)[] Upper =
    [
        ("Keys", []),
        ("Paging", []),
        ("ChangeTracking", ["Paging"]),
        ("Scratch", []),
        ("FreeSpace", ["Paging"]),
        ("Journal", []),
        ("Trees/Pages", ["Paging"]),
        ("Trees/KeyHeads", ["Paging", "Trees/Pages"]),
        ("Trees/IdSets/Pages", ["Paging", "Trees/Pages"]),
        ("Trees/ValueSets/Records", ["Paging", "Trees/Pages"]),
        ("Trees", ["Paging", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets/Pages"]),
        ("Trees/FixedSize", ["Paging", "Trees/Pages", "Trees"]),
        ("Trees/IdSets", ["Paging", "Trees/Pages", "Trees/IdSets/Pages", "Trees"]),
        ("Trees/ValueSets", ["Paging", "Trees/Pages", "Trees/ValueSets/Records", "Trees"]),
        ("Trees/Kinds", ["Paging", "Trees/Pages", "Trees/IdSets/Pages", "Trees", "Trees/FixedSize", "Trees/IdSets"]),
        ("Trees/Batches", ["Paging", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets/Pages", "Trees", "Trees/IdSets"]),
        ("Recording", []),
        ("Recovery", ["Paging", "ChangeTracking", "Scratch", "Journal"]),
        ("Snapshots", ["Paging", "Scratch", "Trees/KeyHeads"]),
        ("Transactions",
        [
            "Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets/Pages",
            "Trees/ValueSets/Records", "Trees", "Trees/FixedSize", "Trees/IdSets", "Trees/ValueSets", "Trees/Kinds", "Trees/Batches", "Recording",
            "Snapshots",
        ]),
        ("Flushing", ["Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Snapshots", "Transactions"]),
        ("Staging", ["Paging", "FreeSpace", "Transactions"]),
        ("Maintenance",
        [
            "Paging", "FreeSpace", "Trees/Pages", "Trees/IdSets/Pages", "Trees/ValueSets/Records", "Trees", "Trees/IdSets", "Trees/Kinds",
            "Snapshots", "Transactions",
        ]),
        ("Diagnostics", ["Paging", "Scratch", "Journal", "Trees/KeyHeads", "Recovery", "Snapshots", "Transactions"]),
        ("Opening",
        [
            "Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Trees/KeyHeads", "Recovery", "Snapshots", "Transactions", "Flushing",
            "Staging", "Maintenance",
        ]),
        ("Compaction",
        [
            "Paging", "FreeSpace", "Trees", "Trees/IdSets", "Trees/Kinds", "Snapshots", "Transactions", "Flushing", "Staging", "Maintenance",
        ]),
        ("Dropping", ["Transactions", "Flushing"]),
        ("Dictionaries", ["Paging", "Trees", "Snapshots", "Transactions"]),
        ("Backup",
        [
            "Paging", "ChangeTracking", "FreeSpace", "Trees/Pages", "Trees", "Trees/Kinds", "Snapshots", "Transactions", "Flushing", "Maintenance",
        ]),
        (Api,
        [
            "Keys", "Paging", "ChangeTracking", "Journal", "Trees/Pages", "Trees/IdSets/Pages", "Trees", "Trees/FixedSize", "Trees/IdSets",
            "Trees/ValueSets", "Trees/Kinds", "Trees/Batches", "Recovery", "Snapshots", "Transactions", "Flushing", "Staging", "Maintenance",
            "Diagnostics", "Opening", "Compaction", "Dropping", "Dictionaries", "Backup",
        ]),
        ("Tables", ["Keys", "Trees/Pages", "Trees", "Recording", "Transactions", Api]),
        ("Feeds", ["Paging", "Trees", "Trees/Kinds", "Recording", "Transactions", Api, "Tables"]),
        ("Salvaging",
        [
            "Paging", "Scratch", "FreeSpace", "Journal", "Trees/Pages", "Trees/IdSets/Pages", "Trees/ValueSets/Records", "Trees", "Trees/Kinds",
            "Recovery", "Transactions", "Opening", "Backup", Api, "Tables",
        ]),
    ];

    /// <summary>The only references from the API to layers above it: an environment trims its feeds, and deletes expired rows.</summary>
    private static readonly (string From, string To)[] Doors =
    [
        ("Api/Environment/BackgroundDeletions.cs", "Feeds/FeedRetention.cs"),
        ("Api/Environment/BackgroundDeletions.cs", "Tables/ExpiryRuns.cs"),
    ];

    /// <summary>Folders that belong to the layer above them.</summary>
    private static readonly string[] PartsOfLayers =
        ["IO/Posix", "IO/Windows", "Api/Environment", "Api/Keys", "Api/Transactions", "Api/Trees"];

    /// <summary>The public types of a salvage, whose namespace is that of the API.</summary>
    private static readonly string[] PublicSalvage =
        ["Salvaging/Salvage.cs", "Salvaging/SalvageReport.cs", "Salvaging/SalvageReport.Json.cs", "Salvaging/SalvagedTable.cs"];

    /// <summary>
    /// The only files that may use each other: the state of a tree lists the cursors that must save their positions before a change.
    /// </summary>
    private static readonly string[] AllowedCycle = ["Trees/TreeCursor.cs", "Trees/TreeState.cs"];

    public static IReadOnlyList<string> FoldersThatAreNoLayer(IEnumerable<string> paths) =>
        paths.Select(Folder).Distinct().Where(folder => !IsLayer(folder)).ToList();

    public static string Namespace(string path) => Layer(path) is Api or "Contracts" || PublicSalvage.Contains(path)
        ? "Voron"
        : "Voron." + Folder(path).Replace('/', '.');

    /// <summary>References to a layer that the referring one may not use.</summary>
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

    public static IEnumerable<string> All => [.. Lowest, .. Upper.Select(line => line.Layer)];

    /// <summary>
    /// Draws the layers from the top to the bottom as a Mermaid flow chart. An arrow means "uses"; those that follow from others are left out.
    /// </summary>
    public static IEnumerable<string> Picture()
    {
        yield return "flowchart TD";
        var uses = Upper.ToDictionary(line => line.Layer, line => line.Uses);
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
        var (user, used) = (Layer(from), Layer(to));
        if (user == used || Doors.Contains((from, to)))
            return false;
        var rank = Array.IndexOf(Lowest, used);
        if (rank >= 0)
            return Array.IndexOf(Lowest, user) is var own && own >= 0 && own < rank;
        return !Upper.Any(line => line.Layer == user && line.Uses.Contains(used));
    }

    private static bool IsLayer(string folder) => All.Contains(LayerOf(folder));

    private static string Layer(string path) => LayerOf(Folder(path));

    private static string LayerOf(string folder) => PartsOfLayers.Contains(folder) ? Folder(folder) : folder;

    private static string Folder(string path) => path[..Math.Max(0, path.LastIndexOf('/'))];
}
