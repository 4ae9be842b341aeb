using System.Runtime.InteropServices;
using System.Text;
using Voron.Format;
using Voron.Paging;
using Voron.Tests.Faults;

namespace Voron.Tests.Backup;

/// <summary>
/// The worst day, from the beginning to the end: an environment is filled, backed up, changed, killed, restored, compacted, damaged and salvaged, and
/// never differs from what was put.
/// </summary>
public sealed class DrillTests : IDisposable
{
    private readonly TemporaryDirectory _place = new();
    private readonly SortedDictionary<string, byte[]> _model = new(StringComparer.Ordinal);
    private Random _random = new(0);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _place.Dispose();

    // With the first seed, the last pass of the compaction brings values to lower pages of the tail that it meant to empty.
    [Theory]
    [InlineData(57208590)]
    [InlineData(null)]
    public async Task Nothing_is_lost_from_the_first_load_to_the_salvage(int? seed)
    {
        _random = new Random(seed ?? TestSeed.Choose());
        SortedDictionary<string, byte[]> backedUp;
        var set = BackupSet.Open(At("set"));

        // Nothing but the calls here flushes: a killed process leaves files of one moment, which a copy file by file beside a flush does not have.
        using (var environment = StorageEnvironment.Open(At("store"), new StorageOptions { BackgroundFlush = false }))
        {
            Load(environment, 3_000);
            (await set.BackupAsync(environment, BackupKind.Full, null, Token)).ParentId.Should().BeNull();
            for (var i = 0; i < 2; i++)
            {
                Change(environment, 200);
                (await set.BackupAsync(environment, BackupKind.Incremental, null, Token)).ParentId.Should().NotBeNull();
            }

            backedUp = new SortedDictionary<string, byte[]>(_model, StringComparer.Ordinal);
            Change(environment, 100);
            Kill("store", "killed");
        }

        Check("killed", _model);
        await set.RestoreAsync(At("restored"), (DateTimeOffset?)null, null, Token);
        Check("restored", backedUp);
        await Compact(backedUp);
        await Salvage(backedUp);
    }

    private async Task Compact(SortedDictionary<string, byte[]> model)
    {
        var length = new FileInfo(At("restored", DataFile.FileName)).Length;
        using (var environment = StorageEnvironment.Open(At("restored")))
        {
            environment.Write(writing =>
            {
                foreach (var key in model.Keys.Where(_ => _random.Next(3) < 2).ToList())
                {
                    writing.OpenTree("t").Delete(Encoding.ASCII.GetBytes(key)).Should().BeTrue();
                    model.Remove(key);
                }
            });
            var report = await environment.CompactAsync(null, Token);
            (report.IsComplete || report.ValuesLeft > 0).Should().BeTrue($"{report}");
        }

        new FileInfo(At("restored", DataFile.FileName)).Length.Should().BeLessThan(length);
        Check("restored", model);
    }

    private async Task Salvage(SortedDictionary<string, byte[]> model)
    {
        var leaf = DamageALeaf();
        var report = await Voron.Salvage.RunAsync(At("restored"), At("salvaged"), null, Token);
        var tree = report.Trees.Single();
        report.IsProven.Should().BeTrue();
        tree.Expected.Should().Be(model.Count);
        var lost = tree.LostRanges.Should().ContainSingle(range => range.Page == leaf).Which;
        foreach (var key in model.Keys.Where(key => IsIn(lost, Encoding.ASCII.GetBytes(key))).ToList())
            model.Remove(key);
        tree.Found.Should().Be(model.Count).And.BeLessThan(tree.Expected!.Value);
        Check("salvaged", model);
    }

    // A leaf in use: others may be left from before the compaction.
    private int DamageALeaf()
    {
        var file = At("restored", DataFile.FileName);
        var bytes = File.ReadAllBytes(file);
        for (var page = bytes.Length / 4096 - 1; ; page--)
        {
            var header = MemoryMarshal.Read<PageHeader>(bytes.AsSpan(page * 4096));
            if (header.PageNumber != page || header is not { Kind: PageKind.Leaf, TreeMark: > 1 })
                continue;
            bytes[page * 4096 + 100] ^= 0x10;
            File.WriteAllBytes(file, bytes);
            using (var environment = StorageEnvironment.Open(At("restored"), new StorageOptions { ReadOnly = true }))
            {
                if (environment.Verify().Problems.Any(problem => problem.Contains($"age {page} ", StringComparison.Ordinal)))
                    return page;
            }

            bytes[page * 4096 + 100] ^= 0x10;
        }
    }

    private static bool IsIn(LostRange range, ReadOnlySpan<byte> key) =>
        (range.Low == null || key.SequenceCompareTo(range.Low) >= 0) && (range.High == null || key.SequenceCompareTo(range.High) < 0);

    private void Load(StorageEnvironment environment, int count)
    {
        for (var i = 0; i < count; i += 100)
            environment.Write(writing => PutSome(writing.CreateTree("t"), 100));
    }

    private void Change(StorageEnvironment environment, int count) => environment.Write(writing =>
    {
        var tree = writing.OpenTree("t");
        PutSome(tree, count);
        foreach (var key in _model.Keys.Where(_ => _random.Next(20) == 0).ToList())
        {
            tree.Delete(Encoding.ASCII.GetBytes(key)).Should().BeTrue();
            _model.Remove(key);
        }
    });

    private void PutSome(WriteTree tree, int count)
    {
        for (var i = 0; i < count; i++)
        {
            var key = $"key {_random.Next(10_000):D5}";
            var value = FaultTestKit.Value(_random.Next(), _random.Next(50) switch { 0 => 50_000, < 5 => 7_000, _ => _random.Next(300) });
            tree.Put(Encoding.ASCII.GetBytes(key), value);
            _model[key] = value;
        }
    }

    // What a killed process leaves, while nothing is being written.
    private void Kill(string from, string to)
    {
        Directory.CreateDirectory(At(to));
        foreach (var file in Directory.GetFiles(At(from)))
            File.Copy(file, At(to, Path.GetFileName(file)));
    }

    private void Check(string name, SortedDictionary<string, byte[]> model)
    {
        using var environment = StorageEnvironment.Open(At(name));
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        var entries = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        foreach (var entry in reading.OpenTree("t").GetEntries())
            entries[Encoding.ASCII.GetString(entry.Key)] = entry.Value.ToArray();
        entries.Keys.Should().Equal(model.Keys, $"'{name}' has the keys of the model");
        entries.Where(entry => !entry.Value.AsSpan().SequenceEqual(model[entry.Key])).Should().BeEmpty();
    }

    private string At(params string[] names) => Path.Combine([_place.Path, .. names]);
}
