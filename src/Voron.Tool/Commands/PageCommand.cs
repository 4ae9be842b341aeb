using System.CommandLine;
using System.Globalization;
using Voron.Format;
using Voron.Maintenance;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Describes a page of the data file.</summary>
internal static class PageCommand
{
    private const int RawLineBytes = 16;

    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var number = new Argument<long>("N") { Description = "The number of the page, from 0 on." };
        var owner = new Option<bool>("--owner") { Description = "Walks the trees to find what the page belongs to, even if its bytes show what it is." };
        var raw = new Option<bool>("--raw") { Description = "Shows the bytes of the page, too." };
        var command = new Command("page", "Describes a page of the data file, as the newest state has it: content, use, entries, checksum.")
        {
            number, owner, raw,
        };
        return access.AddTo(command).Runs((parsed, output, stop) =>
        {
            using var opened = access.OpenToRead(parsed);
            var environment = opened.Environment;
            var mode = parsed.GetValue(owner) ? OwnerSearchMode.Always : OwnerSearchMode.WhenUnclear;
            var page = environment.Internals.DescribePage(parsed.GetRequiredValue(number), mode, stop) ?? throw new ToolException(
                ExitCode.Usage,
                $"There is no page {parsed.GetValue(number)} in '{environment.Path}': its pages are 0 to {environment.GetStatistics().PageCount - 1}.");
            Write(output, page, environment.Options.PageSize ?? page.Bytes.Length, parsed.GetValue(raw));
            return Task.FromResult(page.Fault != null || page.MapFault != null ? ExitCode.Problems : ExitCode.Done);
        });
    }

    private static void Write(ToolOutput output, PageDescription page, int pageSize, bool isRaw)
    {
        var isJson = output.Form == OutputForm.Json;
        List<(string, object?)> facts =
        [
            ("page", page.Page),
            ("state", page.StateTransactionId),
            ("content", NameOf(page.Content)),
            ("use", page.IsUsed switch { true => "used", false => "free", null => "unknown" }),
            ("section", page.Section),
            ("section used pages", page.SectionUsedPages),
            ("place", page.Place switch { PagePlace.DataFile => "data file", PagePlace.Journal => "journal", _ => "nowhere" }),
            ("changed by", page.VersionTransactionId == 0 ? null : page.VersionTransactionId),
            .. HeaderFacts(page),
            ("checksum", page.Place != PagePlace.DataFile || page.Header is not { } header || page.ComputedChecksum is not { } computed ? null
                : header.Checksum == computed ? "valid" : "invalid"),
            ("stored checksum", page.Place == PagePlace.DataFile && page.Header is { } stored ? $"{stored.Checksum:X16}" : null),
            ("computed checksum", page.Place == PagePlace.DataFile && page.ComputedChecksum is { } sum ? $"{sum:X16}" : null),
            .. FillFacts(page, pageSize),
            .. OwnerFacts(page),
            .. SetFacts(page),
            ("problem", page.Fault),
            ("map problem", page.MapFault),
        ];
        if (isJson && isRaw)
            facts.Add(("bytes", Convert.ToHexString(page.Bytes)));
        output.WriteFacts(facts, [EntriesOf(page), BlocksOf(page), NumbersOf(page)]);
        if (isRaw && !isJson)
            WriteRaw(output, page.Bytes);
    }

    private static IEnumerable<(string, object?)> HeaderFacts(PageDescription page)
    {
        if (page.Header is not { } header)
            return [];
        var isIds = header.Kind == PageKind.Ids;
        var hasHeap = header.Kind is PageKind.Leaf or PageKind.Branch or PageKind.Ids;
        var isArray = header.Kind == PageKind.Array;
        return
        [
            ("number in header", header.PageNumber),
            ("kind in header", Enum.IsDefined(header.Kind) ? header.Kind.ToString().ToLowerInvariant() : $"{(int)header.Kind}"),
            ("flags", (int)header.Flags),
            ("transaction", page.Place != PagePlace.DataFile || header.TransactionId == 0 ? null : header.TransactionId),
            ("stamp", header.PageNumber == 0 && page.Page == 0 && page.Place == PagePlace.DataFile ? DataFileStamp.Describe(header.Stamp) : null),
            ("tree id", (hasHeap || isArray) && header.TreeMark != 0 ? (long)header.TreeMark - 1 : null),
            ("key hash", (isIds || isArray) && header.OwnerHash != 0 ? $"{header.OwnerHash:X8}" : null),
            ("entry count", hasHeap || isArray ? (int)header.EntryCount : null),
            ("heap start", hasHeap ? (int)header.HeapStart : null),
            ("hole bytes", hasHeap ? (int)header.HoleBytes : null),
            ("cells in use", isArray ? (int)header.ArrayCells : null),
            ("value bytes", header.Kind == PageKind.Overflow ? header.ExtentBytes : isArray ? header.ValueSize : null),
        ];
    }

    private static IEnumerable<(string, object?)> FillFacts(PageDescription page, int pageSize)
    {
        if (page.Entries.Count == 0 && page.Blocks.Count == 0)
            return [];
        var used = page.Entries.Sum(entry => entry.RecordBytes + sizeof(ushort)) + page.Blocks.Sum(block => block.CapacityBytes + IdBlockEntry.Size);
        var capacity = pageSize - PageHeader.Size;
        return [("used bytes", used), ("free bytes", capacity - used), ("fill", (double)used / capacity)];
    }

    private static IEnumerable<(string, object?)> OwnerFacts(PageDescription page) =>
    [
        ("tree", page.Tree is { } tree ? tree.Name ?? "(catalog)" : page.Owner is { } owner ? owner.Tree ?? "(catalog)" : null),
        ("tree depth", page.Tree?.Depth),
        ("level", page.Tree is { Level: >= 0 } reached ? reached.Level : null),
        ("parent", page.Tree is { Parent: > 0 } below ? below.Parent : null),
        ("reached", page.Tree is { } place && !IsOfSet(page) ? place.Level >= 0 : null),
        ("extent", page.Extent?.First),
        ("extent pages", page.Extent?.Pages),
        ("owner", page.IsOwnerSearched ? NameOfOwner(page) : null),
    ];

    private static bool IsOfSet(PageDescription page) => page.Header is { Kind: PageKind.Ids or PageKind.Array, OwnerHash: not 0 };

    private static IEnumerable<(string, object?)> SetFacts(PageDescription page) =>
    [
        ("set key", page.Set is { } set ? KeyText.Format(set.Key) : null),
        ("set ids", page.Set?.Ids),
        ("set depth", page.Set?.Depth),
        ("set level", page.Set is { Level: >= 0 } reached ? reached.Level : null),
        ("set parent", page.Set is { Parent: > 0 } below ? below.Parent : null),
        ("unread leaves", page.Unread?.Leaves),
        ("unread branches", page.Unread?.Branches),
        ("reached in set", page.IsOwnerSearched && page.Tree != null && IsOfSet(page) ? page.Set is { Level: >= 0 } : null),
    ];

    private static string NameOfOwner(PageDescription page) =>
        page.Owner is { } found ? (found.IsValue ? "large value" : "tree") : IsMap(page) ? "section map" : "none";

    private static bool IsMap(PageDescription page) => page.Content is PageContent.MapRoot or PageContent.MapDirectory or PageContent.SectionMap;

    private static ToolRows EntriesOf(PageDescription page)
    {
        var rows = page.Entries.Select(entry => new object?[]
        {
            entry.Index, entry.Offset, entry.Fault == null ? KeyText.Format(entry.Key) : null,
            entry.Kind switch
            {
                ValueKind.Inline => "inline", ValueKind.Overflow => "overflow", ValueKind.LargeExtent => "large",
                ValueKind.Extended => NameOf(entry.Form),
                null => entry.Page == null ? null : "child", _ => "unknown",
            },
            entry.ValueBytes, entry.Ids, entry.Page, entry.Fault,
        });
        return new("entries", ["index", "offset", "key", "kind", "bytes", "ids", "page", "problem"], [.. rows]);
    }

    private static string NameOf(ExtendedForm? form) => form switch
    {
        ExtendedForm.OneId => "one id",
        ExtendedForm.FewIds => "few ids",
        ExtendedForm.IdSet => "id set",
        ExtendedForm.Packed => "compressed",
        ExtendedForm.PackedOutside => "compressed overflow",
        _ => "extended",
    };

    private static ToolRows BlocksOf(PageDescription page) => new(
        "blocks",
        ["index", "offset", "first id", "last id", "ids", "gap bits", "payload bits", "highest payload", "bytes", "tail", "problem"],
        [
            .. page.Blocks.Select(block => new object?[]
            {
                block.Index, block.Offset, block.FirstId, block.LastId, block.Ids, block.GapWidth, block.PayloadWidth, block.HighestPayload,
                block.CapacityBytes, block.IsTail, block.Fault,
            }),
        ]);

    private static ToolRows NumbersOf(PageDescription page) => new(
        "map", page.Content == PageContent.SectionMap ? ["section of group", "used pages"] : ["index", "page"],
        [.. page.Numbers.Select(number => new object?[] { number.Index, number.Number })]);

    private static string NameOf(PageContent content) => content switch
    {
        PageContent.InsideOverflow => "inside overflow",
        PageContent.Value => "large value",
        PageContent.MapRoot => "map root",
        PageContent.MapDirectory => "map directory",
        PageContent.SectionMap => "section map",
        _ => content.ToString().ToLowerInvariant(),
    };

    private static void WriteRaw(ToolOutput output, byte[] bytes)
    {
        for (var at = 0; at < bytes.Length; at += RawLineBytes)
        {
            var line = bytes.AsSpan(at, Math.Min(RawLineBytes, bytes.Length - at));
            var text = string.Concat(line.ToArray().Select(one => one is >= 0x20 and < 0x7F ? (char)one : '.'));
            var hex = string.Join(' ', line.ToArray().Select(one => one.ToString("X2", CultureInfo.InvariantCulture)));
            output.WriteText($"{at:X5}  {hex,-(3 * RawLineBytes)} {text}");
        }
    }
}
