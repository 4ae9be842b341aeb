using Voron.Format;
using Voron.Salvaging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Damage;
using Voron.Trees;
using static Voron.Simulation.Harness.BrokenPromiseException;

namespace Voron.Torture.Salvaging;

/// <summary>
/// Damages a store and salvages it: what counts as proven is right, what does not was true once, nothing is missing that the report does not name,
/// and with one damage nothing is missing that it did not hit.
/// </summary>
internal sealed class SalvageCase(StoreImage image, SuiteRun run)
{
    private readonly Tape _choices = run.Choices;
    private readonly List<StoreDamage> _damages = [];
    private StoreFiles _files = image.Files;
    private long _oldLeaves;

    public void Run()
    {
        if (_choices.Next(10) == 9)
        {
            RunForged();
            return;
        }

        for (var count = _choices.Next(4) == 3 ? _choices.Next(2, 5) : _choices.Next(8) == 7 ? 0 : 1; count > 0; count--)
        {
            var damage = StoreDamage.Choose(_files, image.Records, _choices);
            if (damage == null)
                continue;
            _damages.Add(damage);
            _files = damage.Apply(_files);
            run.Step(damage.ToString());
        }

        var options = new SalvageOptions { IncludeStale = _choices.Next(3) == 2, TakeNewest = _choices.Next(4) == 3 };
        if (options.IncludeStale && _files.Has(ForgedStore.DataFile) && _files.Has(ForgedStore.HeaderFile) && _damages.Count == 0)
            AddOldLeaves();
        run.Report($"salvage, stale {options.IncludeStale}, newest {options.TakeNewest}");
        var target = new CollectedTrees();
        if (Salvage(options, target) is not { } report)
            return;
        Check(report, target, options);
        run.Tally(report.IsProven ? "proven" : "current");
        run.Tally("entries", report.Entries);
    }

    // With checksums that are right, anything may be found, but nothing may happen to the process.
    private void RunForged()
    {
        var store = new ForgedStore(_files);
        var forger = new Forger(store, _choices);
        for (var count = _choices.Next(1, 4); count > 0; count--)
            run.Step(forger.Change());
        store.Seal();
        _files = store.Files;
        var disk = new ImageDisk(_files, isLent: true, isGuarded: true) { IsReadOnly = true };
        try
        {
            using var source = DamagedSource.Open(disk, CancellationToken.None);
            var options = new SalvageOptions { IncludeStale = _choices.Next(2) == 1, TakeNewest = _choices.Next(2) == 1 };
            var target = new CollectedTrees();
            new SalvageRun(source, options, CancellationToken.None).Run(_ => target);
            run.Tally("forged, salvaged");
        }
        catch (VoronException)
        {
            run.Tally("forged, refused");
        }
        finally
        {
            Require(disk.Changes == 0, "the salvage changed its source");
            disk.Free();
        }
    }

    private SalvageReport? Salvage(SalvageOptions options, CollectedTrees target)
    {
        var places = new UnreadablePlaces(_damages);
        var disk = new ImageDisk(_files, isLent: true) { IsReadOnly = true, FailsRead = places.Fails };
        try
        {
            using var source = DamagedSource.Open(disk, CancellationToken.None);
            var findings = new SalvageRun(source, options, CancellationToken.None).Run(_ => target);
            var report = Voron.Salvage.ToReport(source, "target", findings, 0);
            Require(!places.HaveFailed || report.DamageCount > 0, "a place could not be read, and no damage is reported");
            return report;
        }
        catch (VoronException e) when (e is CorruptionException or EnvironmentNotFoundException)
        {
            Require(NothingIdentifies(), $"nothing was salvaged: {e.Message}");
            run.Tally("nothing");
            return null;
        }
        finally
        {
            Require(disk.Changes == 0, "the salvage changed its source");
            disk.Free();
        }
    }

    // Without header and journal, two pages must be left.
    private bool NothingIdentifies() =>
        _damages.Exists(damage => damage.File == ForgedStore.HeaderFile) && _damages.Exists(damage => damage.File == ForgedStore.DataFile);

    private void Check(SalvageReport report, CollectedTrees target, SalvageOptions options)
    {
        foreach (var tree in report.Trees)
        {
            var count = target.CountOf(tree.Name);
            Require(count == tree.Found, $"'{tree.Name}' has {count} entries, but the report says {tree.Found}");
        }

        foreach (var (name, entries) in target.Trees)
            CheckTrue(name, entries);
        if (report.IsProven)
            CheckProven(report, target);
        if (_damages.Count <= 1)
            CheckComplete(report, target);
        if (_damages.Count == 0)
        {
            var isSound = report is { IsProven: true, DamageCount: 0, HasLosses: false } && report.TransactionId == image.LastTransaction;
            Require(isSound, "a sound store is not proven");
        }

        if (_damages is [{ HitsJournal: true } only])
            CheckJournal(report, only, options);
        if (_oldLeaves != 0)
            CheckOldLeaves(report, target);
        Require(report.Trees.All(tree => tree.Stale == 0 || (options.IncludeStale && IsLost(tree.Name))), "an old entry is in its tree");
    }

    // Each entry was in a tree at some time.
    private void CheckTrue(string name, Dictionary<string, byte[]> entries)
    {
        foreach (var (key, value) in entries)
        {
            var wasThere = EntryHistory.Of(image).ValuesOf(IsLost(name) ? null : name, key)
                .Any(known => known.AsSpan().SequenceEqual(value) || IsOldLeaf(IsLost(name), value));
            var start = Convert.ToHexString(value.AsSpan(0, Math.Min(value.Length, 16)));
            Require(wasThere, $"'{name}' has key {key} with {value.Length} bytes, {start}, which was never there");
        }
    }

    // Nothing that the state does not have, and what is missing is named.
    private void CheckProven(SalvageReport report, CollectedTrees target)
    {
        var wasThere = image.Contents.TryGetValue(report.TransactionId, out var content);
        Require(wasThere || report.TransactionId == 0, $"transaction {report.TransactionId} never was");
        var expected = content?.Trees ?? [];
        foreach (var (name, entries) in target.Trees.Where(tree => !IsLost(tree.Key)))
        {
            var tree = expected.FirstOrDefault(known => known.Tree == name);
            Require(tree.Tree != null, $"there was no tree '{name}' in transaction {report.TransactionId}");
            var known = tree.Entries.ToDictionary(entry => Convert.ToHexString(entry.Key), entry => entry.Value);
            foreach (var (key, value) in entries)
            {
                var isRight = known.TryGetValue(key, out var right) && right.AsSpan().SequenceEqual(value);
                Require(isRight, $"'{name}' has key {key}, which transaction {report.TransactionId} does not have so");
            }
        }

        foreach (var (name, entries) in expected)
            CheckNamed(report, target, name, entries);
    }

    private static void CheckNamed(SalvageReport report, CollectedTrees target, string name, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        var found = report.Trees.FirstOrDefault(tree => tree.Name == name);
        if (found == null)
        {
            var isNamed = report.LostNames.Any(range => IsIn(range, NameOf(name)));
            Require(report.HasLosses && isNamed, $"'{name}' is missing, but no range of lost names has it");
            return;
        }

        foreach (var (key, _) in entries)
        {
            if (target.Trees[name].ContainsKey(Convert.ToHexString(key)))
                continue;
            Require(found.HasLosses, $"'{name}' lacks entries, but has no losses");
            var owner = IdTreeContent.IsName(name) ? IdEntries.KeyOf(key).ToArray() : key;
            Require(
                found.LostRanges.Any(range => IsIn(range, owner)) || found.LostValues.Any(lost => lost.Key.AsSpan().SequenceEqual(owner)),
                $"'{name}' lacks key {Convert.ToHexString(key)}, but no lost range has it");
        }
    }

    // The name in the catalog; those of the trees of tables are not the ones that a report shows.
    private static byte[] NameOf(string shown)
    {
        for (ushort table = 1; table <= 2; table++)
        {
            byte[][] names =
            [
                SystemTree.Schemas.ToArray(), SystemTree.RowsName(table), SystemTree.IndexName(table, 0, isUnique: true),
                SystemTree.IndexName(table, 1, isUnique: true),
            ];
            if (names.FirstOrDefault(name => SystemTree.Describe(name) == shown) is { } found)
                return found;
        }

        return System.Text.Encoding.UTF8.GetBytes(shown);
    }

    private static bool IsIn(LostRange range, ReadOnlySpan<byte> key) =>
        (range.Low == null || key.SequenceCompareTo(range.Low) >= 0) && (range.High == null || key.SequenceCompareTo(range.High) < 0);

    // With one damage, at most what it hit is missing.
    private void CheckComplete(SalvageReport report, CollectedTrees target)
    {
        var damage = _damages.FirstOrDefault();
        if (damage is { IsOfPage: false } && (damage.File == ForgedStore.DataFile || damage.HitsJournal))
            return;
        if (damage?.File == ForgedStore.HeaderFile && !HasState())
            return;
        var content = image.Contents[image.LastTransaction];
        var hit = damage is { IsOfPage: true } ? LeafMap.Of(image).EntriesOf(damage.Page) : new HashSet<(string, string)>();
        var hitsCatalog = damage is { IsOfPage: true } && LeafMap.Of(image).IsOfCatalog(damage.Page);
        foreach (var (name, entries) in content.Trees)
        {
            foreach (var (key, value) in entries)
            {
                var isFound = target.Trees.Any(tree => (tree.Key == name || (hitsCatalog && IsLost(tree.Key)))
                    && tree.Value.TryGetValue(Convert.ToHexString(key), out var found) && found.AsSpan().SequenceEqual(value));
                var isHit = hit.Contains((name, Convert.ToHexString(key)));
                Require(isFound || isHit, $"'{name}' lacks key {Convert.ToHexString(key)}, which the damage did not hit");
            }
        }

        run.Tally("complete but for the damage");
        Require(hit.Count > 0 || hitsCatalog || !report.HasLosses || !report.IsJournalWhole, "the report has losses, but nothing was hit");
    }

    // All records before the place of the damage count, if the headers of the file do.
    private void CheckJournal(SalvageReport report, StoreDamage damage, SalvageOptions options)
    {
        var hit = image.Records.FirstOrDefault(record => record.File == damage.File && record.Offset + record.Length > damage.Offset);
        var isHeader = damage.Offset < JournalFormat.FirstRecordOffset;
        if (damage.IsGone || damage.File.StartsWith("rewrite-", StringComparison.Ordinal) || (isHeader && damage.IsCut))
            return;
        var before = image.Records.TakeWhile(record => record != hit);
        var expected = isHeader || hit == default ? image.LastTransaction : before.Select(record => record.TransactionId).DefaultIfEmpty().Max();

        // The data file of a flush under way may have newer pages than the journal that is left: what both make together may look damaged, and
        // another start better.
        Require(report.TransactionId >= expected || (IsFlushing && !report.IsProven), $"transaction {report.TransactionId} was taken, but the journal is whole up to {expected}");
        Require(report.IsProven || options.TakeNewest || IsFlushing, "the data file fits, but nothing is proven");
        run.Tally("journal up to the damage");
    }

    // Without a header, the journal names the state unless a flush was under way, or a journal snapshot is part of it.
    private bool HasState() =>
        !IsFlushing && !image.Name.Contains("snapshot", StringComparison.Ordinal);

    // What the journal said of the flush may be gone with the record that is hit.
    private bool IsFlushing => image.Name.StartsWith("flushing", StringComparison.Ordinal);

    // Two leaves of one tree behind the pages in use, with the same keys: the newer one counts.
    private void AddOldLeaves()
    {
        var old = OldLeaves.AddTo(_files);
        if (old == null)
            return;
        (_files, _oldLeaves) = (old.Files, 1);
        run.Report("two old leaves");
    }

    private bool IsOldLeaf(bool isLost, byte[] value) =>
        isLost && _oldLeaves != 0 && value.AsSpan().IndexOfAnyExcept(OldLeaves.Older, OldLeaves.Newer) < 0;

    private static bool IsLost(string tree) => tree.StartsWith("lost+found", StringComparison.Ordinal);

    private static void CheckOldLeaves(SalvageReport report, CollectedTrees target)
    {
        var lost = report.Trees.Where(tree => tree.Stale > 0).SelectMany(tree => target.Trees[tree.Name].Values).ToList();
        Require(lost.Exists(value => value.AsSpan().IndexOfAnyExcept(OldLeaves.Newer) < 0), "the newer old leaf is missing");
        Require(!lost.Exists(value => value.AsSpan().IndexOfAnyExcept(OldLeaves.Older) < 0), "the older leaf has come before the newer one");
    }
}
