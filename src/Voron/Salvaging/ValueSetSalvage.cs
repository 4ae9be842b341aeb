using Voron.Format;
using Voron.Trees.ValueSets.Records;

namespace Voron.Salvaging;

/// <summary>
/// Builds the value set trees of a salvage. Their records, and the values of their large sets, have been salvaged as ordinary trees.
/// </summary>
/// <remarks>
/// A set contains the values that were found. Large sets that no key leads to stay in lost+found, under their numbers.
/// </remarks>
/// <param name="environment">The new environment.</param>
/// <param name="findings">The findings.</param>
/// <param name="stop">Ends the work.</param>
internal sealed class ValueSetSalvage(StorageEnvironment environment, SalvageFindings findings, CancellationToken stop)
{
    private const int ValuesAtOnce = 100_000;
    private const string Raw = Extraction.LostAndFound + "/records";

    /// <summary>Builds all value set trees.</summary>
    /// <param name="report">The report so far.</param>
    /// <returns>The report with the sets that are lost, completely or in part.</returns>
    /// <exception cref="OperationCanceledException">The salvage was cancelled.</exception>
    public SalvageReport Mend(SalvageReport report)
    {
        foreach (var tree in findings.Trees.Where(tree => tree is { IsLeftBehind: false, Header.Kind: TreeKind.ValueSets }))
        {
            stop.ThrowIfCancellationRequested();
            var large = findings.Trees.FirstOrDefault(other => other.LargeSetsOf == tree.TreeId);
            var builder = new TreeBuilder(environment, tree.Name, large?.Name, stop);
            var isUsedUp = builder.Build(RawName());
            report = report with
            {
                Trees =
                [
                    .. report.Trees.Select(one => one.Name == tree.Name ? one with { LostValues = [.. one.LostValues, .. builder.Lost] }
                        : isUsedUp && one.Name == large?.Name ? one with { Name = $"large sets of '{tree.Name}'" }
                        : one),
                ],
            };
        }

        return report;
    }

    private string RawName()
    {
        using var reading = environment.BeginRead();
        var name = Raw;
        while (reading.TryOpenTree(name, out _))
            name += "~";
        return name;
    }

    /// <summary>Builds one tree.</summary>
    private sealed class TreeBuilder(StorageEnvironment environment, string name, string? largeName, CancellationToken stop)
    {
        private readonly HashSet<long> _taken = [];
        private WriteTransaction _writing;
        private WriteValueSetTree _sets;
        private long _uncommitted;

        public List<LostValue> Lost { get; } = [];

        /// <summary>Builds the tree. Returns whether all of its large sets have a key.</summary>
        public bool Build(string rawName)
        {
            environment.Write(writing => writing.RenameTree(name, rawName));
            using (var reading = environment.BeginRead())
            {
                _writing = environment.BeginWrite();
                try
                {
                    _sets = _writing.CreateValueSetTree(name);
                    var large = default(Tree);
                    var hasLarge = largeName != null && reading.TryOpenTree(largeName, out large);
                    foreach (var entry in reading.OpenTree(rawName).GetEntries())
                        Take(reading, entry, large, hasLarge);
                    _writing.Commit();
                }
                finally
                {
                    _writing.Dispose();
                }
            }

            environment.Write(writing => writing.DeleteTree(rawName));
            return RemoveTaken();
        }

        private void Take(ReadTransaction reading, TreeEntry entry, Tree large, bool hasLarge)
        {
            var bytes = entry.Value;
            if (ValueSetRecord.FindFault(bytes, environment.Options.PageSizeOrDefault) is { } fault)
            {
                Lose(entry.Key, bytes.Length, $"It is not a set of values: it has {fault}.");
                return;
            }

            var set = ValueSetRecord.Read(reading.Body.Pages, bytes);
            try
            {
                if (set.Form == ValueSetForm.One)
                    Add(entry.Key, set.OnlyValue);
                for (var i = 0; set.Form == ValueSetForm.Few && i < set.Count; i++)
                    Add(entry.Key, FewValues.ValueAt(reading.Body.Pages, bytes, i));
            }
            catch (CorruptionException problem)
            {
                Lose(entry.Key, bytes.Length, problem.Message);
            }

            if (set.Form == ValueSetForm.Large)
                TakeLarge(entry.Key, set.Large, large, hasLarge);
        }

        private void TakeLarge(ReadOnlySpan<byte> key, in LargeSetReference set, Tree large, bool hasLarge)
        {
            var (count, bytes) = (0L, 0L);
            if (hasLarge && _taken.Add(set.Number))
            {
                foreach (var entry in large.Prefix(ValueSetLayout.Key(set.Number, default, new byte[ValueSetLayout.NumberBytes])))
                {
                    var value = entry.Key[ValueSetLayout.NumberBytes..];
                    if (value.IsEmpty)
                        continue;
                    Add(key, value);
                    count++;
                    bytes += value.Length;
                }
            }

            if (count != set.Count)
                Lose(key, Math.Max(0, set.Bytes - bytes), $"{count} of its {set.Count} values were found.");
        }

        private void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
        {
            if (value.Length > _sets.MaxValueLength)
            {
                Lose(key, value.Length, $"A value of {value.Length} bytes is longer than any that a set can have.");
                return;
            }

            _sets.Add(key, value);
            if (++_uncommitted < ValuesAtOnce)
                return;
            stop.ThrowIfCancellationRequested();
            _writing.Commit();
            _writing.Dispose();
            _uncommitted = 0;
            _writing = environment.BeginWrite();
            _sets = _writing.OpenValueSetTree(name);
        }

        private void Lose(ReadOnlySpan<byte> key, long length, string reason) => Lost.Add(new LostValue(key.ToArray(), length, reason));

        private bool RemoveTaken()
        {
            var isUsedUp = false;
            environment.Write(writing =>
            {
                if (largeName == null || !writing.TryOpenTree(largeName, out var large))
                    return;
                large.Delete(ValueSetLayout.NextNumberKey);
                foreach (var number in _taken)
                    large.DeleteRange(KeyRange.Prefix(ValueSetLayout.Key(number, default, new byte[ValueSetLayout.NumberBytes])));
                isUsedUp = large.Count == 0 && writing.DeleteTree(largeName);
            });
            return isUsedUp;
        }
    }
}
