namespace Voron.Tidy.Tests;

/// <summary>The layers of the engine, which of them each may use, and the references that break this. CONTRIBUTING.md has the table.</summary>
internal static class LayerRules
{
    private const string Api = "Api";

    /// <summary>The lowest layers, in their order: every layer may use them. Contracts are plain data, and use nothing of the engine.</summary>
    private static readonly string[] Lowest = ["Contracts", "Testing", "Primitives", "Format", "IO", "Compression"];

    /// <summary>
    /// The layers above them in groups, from the bottom to the top, each layer with those that it uses. The picture draws arrows between groups.
    /// </summary>
    private static readonly (string Title, (string Layer, string[] Uses)[] Layers)[] Groups =
    [
        ("pages, files, bytes",
        [
            ("Keys", []),
            ("Sorting", []),
            ("Recording", []),
            ("Paging", []),
            ("ChangeTracking", ["Paging"]),
            ("Scratch", []),
            ("FreeSpace", ["Paging"]),
            ("Journal", []),
        ]),
        ("trees",
        [
            ("Trees/Pages", ["Paging"]),
            ("Trees/KeyHeads", ["Paging", "Trees/Pages"]),
            ("Trees/IdSets/Pages", ["Paging", "Trees/Pages"]),
            ("Trees/ValueSets/Records", ["Paging", "Trees/Pages"]),
            ("Trees", ["Paging", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets/Pages"]),
            ("Trees/FixedSize", ["Paging", "Trees/Pages", "Trees"]),
            ("Trees/IdSets", ["Paging", "Trees/Pages", "Trees/IdSets/Pages", "Trees"]),
            ("Trees/ValueSets", ["Paging", "Trees/Pages", "Trees/ValueSets/Records", "Trees"]),
            ("Trees/Kinds", ["Paging", "Trees/Pages", "Trees", "Trees/FixedSize", "Trees/IdSets"]),
            ("Trees/Batches", ["Sorting", "Paging", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets/Pages", "Trees", "Trees/IdSets"]),
        ]),
        ("transactions",
        [
            ("Recovery", ["Paging", "ChangeTracking", "Scratch", "Journal"]),
            ("Snapshots", ["Paging", "Scratch", "Trees/KeyHeads"]),
            ("Transactions",
            [
                "Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Trees/Pages", "Trees/KeyHeads", "Trees/IdSets/Pages",
                "Trees/ValueSets/Records", "Trees", "Trees/FixedSize", "Trees/IdSets", "Trees/ValueSets", "Trees/Kinds", "Trees/Batches", "Recording",
                "Snapshots",
            ]),
        ]),
        ("work on an environment",
        [
            ("Flushing", ["Paging", "ChangeTracking", "Scratch", "FreeSpace", "Journal", "Snapshots", "Transactions"]),
            ("Staging", ["Paging", "FreeSpace", "Transactions"]),
            ("Loading",
            [
                "Sorting", "Paging", "FreeSpace", "Trees/Pages", "Trees/IdSets/Pages", "Trees", "Trees/IdSets", "Snapshots", "Transactions",
                "Flushing", "Staging",
            ]),
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
                "Paging", "ChangeTracking", "FreeSpace", "Trees/Pages", "Trees", "Trees/Kinds", "Snapshots", "Transactions", "Flushing",
                "Maintenance",
            ]),
        ]),
        ("what users call",
        [
            (Api,
            [
                "Keys", "Sorting", "Recording", "Paging", "ChangeTracking", "Journal", "Trees/Pages", "Trees/IdSets/Pages", "Trees",
                "Trees/FixedSize", "Trees/IdSets", "Trees/ValueSets", "Trees/Kinds", "Trees/Batches", "Recovery", "Snapshots", "Transactions",
                "Flushing", "Staging",
                "Loading", "Maintenance", "Diagnostics", "Opening", "Compaction", "Dropping", "Dictionaries", "Backup",
            ]),
            ("Tables", ["Trees", "Loading", Api]),
            ("Feeds", ["Trees", "Recording", Api, "Tables"]),
            ("Salvaging",
            [
                "Paging", "Scratch", "FreeSpace", "Journal", "Trees/Pages", "Trees/IdSets/Pages", "Trees/ValueSets/Records", "Trees", "Trees/Kinds",
                "Recovery", "Transactions", "Opening", "Backup", Api, "Tables",
            ]),
        ]),
    ];

    private static readonly (string Layer, string[] Uses)[] Upper = [.. Groups.SelectMany(group => group.Layers)];

    /// <summary>The only references from the API to layers above it: an environment trims its feeds, and deletes expired rows.</summary>
    private static readonly (string From, string To)[] Doors =
    [
        ("Api/Environment/BackgroundDeletions.cs", "Feeds/FeedRetention.cs"),
        ("Api/Environment/BackgroundDeletions.cs", "Tables/ExpiryRuns.cs"),
        ("Api/Environment/BackgroundDeletions.cs", "Tables/KnownTables.cs"),
    ];

    /// <summary>
    /// The internal types of the engine whose names or members occur in Tables and Feeds, as few as possible: a change of one of them concerns
    /// both layers. Everything else is in the files named Layers.cs of the API, as internal members of public types. Public types do not count, among
    /// them all that Contracts has, and neither do those of Testing, whose switches belong to all layers.
    /// </summary>
    private static readonly string[] KnownAbove =
    [
        "BackgroundRun", "ChangeRecord", "Checksum", "DuplicateKeyFinder", "FeedKeys", "IEntryListener", "IEntryToLoad", "IndexLoad", "KeyText",
        "LoadErrors", "OrderedLoad", "PrivateTree", "PrivateTrees", "SlicedLoad", "SourceRecord", "SystemTree", "TreeRecording",
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

    /// <summary>Returns the internal types of the engine that Tables and Feeds use but the list lacks, and those that only the list has.</summary>
    public static IReadOnlyList<string> DifferencesAbove(SourceGraph graph)
    {
        var uses = TypesAbove(graph);
        return
        [
            .. uses.Where(use => !KnownAbove.Contains(use.Type)).Select(use => $"{use.Type} is used by {use.By}, and is not in the list"),
            .. KnownAbove.Except(uses.Select(use => use.Type)).Select(type => $"{type} is in the list, and is used by no file"),
        ];
    }

    /// <summary>Returns the internal types of the engine that Tables and Feeds use, each with the files that do.</summary>
    public static IReadOnlyList<(string Type, string By)> TypesAbove(SourceGraph graph)
    {
        string[] above = ["Tables", "Feeds"];
        return graph.References
            .Where(reference => above.Contains(Layer(reference.From)) && !above.Contains(Layer(reference.To)) && Layer(reference.To) != "Testing")
            .SelectMany(reference => reference.Symbols.Select(symbol => (Type: symbol.Split('.')[0], reference.From)))
            .Where(use => graph.InternalTypes.Contains(use.Type))
            .GroupBy(use => use.Type, use => use.From)
            .Select(uses => (uses.Key, string.Join(", ", uses.Distinct())))
            .OrderBy(use => use.Key, StringComparer.Ordinal)
            .ToList();
    }

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
    /// Draws the groups of layers from the top to the bottom as a Mermaid flow chart. An arrow means "uses": between two layers of a group, or
    /// from some layer of a group to some layer of another one. Arrows that follow from others are left out.
    /// </summary>
    public static IEnumerable<string> Picture()
    {
        (string Title, (string Layer, string[] Uses)[] Layers)[] all = [LowestGroup(), .. Groups];
        yield return "flowchart TD";
        for (var at = all.Length - 1; at >= 0; at--)
        {
            yield return $"  subgraph g{at}[{all[at].Title}]";
            yield return $"    direction {Direction(all[at].Layers)}";
            foreach (var line in Arrows(all[at].Layers, Node))
                yield return $"    {line}";
            yield return "  end";
        }

        foreach (var line in Arrows(GroupUses(all), group => group))
            yield return $"  {line}";
    }

    private static (string Title, (string Layer, string[] Uses)[] Layers) LowestGroup() =>
        ("every layer above uses these", [.. Lowest.Select((layer, at) => (layer, Lowest[..at]))]);

    /// <summary>The groups by their numbers in the picture, each with those that one of its layers uses.</summary>
    private static (string Group, string[] Uses)[] GroupUses((string Title, (string Layer, string[] Uses)[] Layers)[] all)
    {
        string[] UsesOf(int group) =>
        [
            .. Enumerable.Range(0, group).Where(below => below == 0 || all[group].Layers.Any(
                line => line.Uses.Any(used => all[below].Layers.Any(layer => layer.Layer == used)))).Select(below => $"g{below}"),
        ];
        return [.. Enumerable.Range(0, all.Length).Select(group => ($"g{group}", UsesOf(group)))];
    }

    /// <summary>One line for each of these that uses others of them, from the top to the bottom, and for each that no line mentions.</summary>
    private static IEnumerable<string> Arrows((string Name, string[] Uses)[] lines, Func<string, string> node)
    {
        var uses = lines.ToDictionary(line => line.Name, line => line.Uses.Where(used => lines.Any(other => other.Name == used)).ToArray());
        foreach (var name in uses.Keys.Reverse())
        {
            string[] direct = [.. uses[name].Where(used => !uses[name].Any(other => Reaches(uses, other, used)))];
            if (direct.Length > 0)
                yield return $"{node(name)} --> {string.Join(" & ", direct.Select(node))}";
            else if (!uses.Values.Any(used => used.Contains(name)))
                yield return node(name);
        }
    }

    /// <summary>A group whose chains are longer than its rows are wide is drawn from left to right, so that no part of the picture is tall.</summary>
    private static string Direction((string Layer, string[] Uses)[] layers)
    {
        var rows = new Dictionary<string, int>();
        foreach (var (layer, uses) in layers)
            rows.Add(layer, 1 + uses.Select(used => rows.GetValueOrDefault(used)).DefaultIfEmpty().Max());
        return rows.Values.Max() > rows.Values.CountBy(row => row).Max(row => row.Value) ? "LR" : "TB";
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
