using System.Buffers.Binary;
using Voron.IO;
using Voron.Maintenance;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Transactions;

namespace Voron.Torture.Damage;

/// <summary>
/// Opens forged files and performs every possible operation on them. Reads may return anything; only exceptions of the engine may be
/// thrown; and memory, time and the process must stay within bounds.
/// </summary>
internal sealed partial class MalformedCase(StoreImage image, StoreFiles files, Random random)
{
    /// <summary>More than ten times as much as any case needs.</summary>
    private const long MaxManagedBytes = 128 << 20;

    /// <summary>A salvage writes real files.</summary>
    private const int SalvagedOneIn = 12;

    private const long MaxScratchBytes = 64 << 20;

    /// <summary>Includes reserved addresses that have little memory yet.</summary>
    private const long MaxNativeBytes = 256 << 20;

    /// <summary>The address ranges that an undamaged environment reserves: no forged number may increase them.</summary>
    private static readonly Lazy<IReadOnlySet<ulong>> UsualStretches = new(MeasureStretches);

    private readonly bool _isRecorded = image.Contents[image.LastTransaction].HasRecorded;

    /// <summary>The number of exceptions of the engine that were thrown.</summary>
    public int ReportedErrors { get; private set; }

    public void Run()
    {
        var usual = UsualStretches.Value;
        var before = GC.GetAllocatedBytesForCurrentThread();
        var meter = new MemoryMeter();
        var disk = new ImageDisk(files, isLent: true, isGuarded: true);
        try
        {
            // Real files take more addresses.
            if (_isRecorded)
                SalvageRecorded(disk);
            EngineMemory.Watch = meter;
            Use(disk, writes: true);
            Use(disk, writes: false);
        }
        finally
        {
            EngineMemory.Watch = null;
            disk.Free();
        }
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        BrokenPromiseException.Require(allocated < MaxManagedBytes, $"{allocated} bytes were allocated for a store of a few hundred thousand");
        BrokenPromiseException.Require(
            meter.Most < MaxNativeBytes, $"{meter.Most} bytes of native memory were in use for a store of a few hundred thousand");
        BrokenPromiseException.Require(
            usual.IsSupersetOf(meter.Stretches),
            $"{string.Join(", ", meter.Stretches.Except(usual))} bytes were asked for at once: nothing else needs as many");
    }

    private static IReadOnlySet<ulong> MeasureStretches()
    {
        var meter = new MemoryMeter();
        var outer = EngineMemory.Watch;
        EngineMemory.Watch = meter;
        try
        {
            StoreMaker.Closed();
        }
        finally
        {
            EngineMemory.Watch = outer;
        }
        return meter.Stretches;
    }

    private void Use(ImageDisk disk, bool writes)
    {
        Try(() =>
        {
            using var environment = StorageEnvironment.Open(disk, Options());
            Read(environment);
            for (var i = 0; writes && i < 2; i++)
                Write(environment);
            if (_isRecorded)
                UseRecorded(environment, writes);
            if (writes)
                Try(() => environment.Flush());
            Try(() => environment.Verify());
            Try(() => Scrub(environment));
            Read(environment);
            if (writes && random.Next(4) == 0)
            {
                Try(() => environment.ReclaimSpace());
                Read(environment);
            }

            var scratch = environment.GetStatistics().ScratchReservedBytes;
            BrokenPromiseException.Require(scratch < MaxScratchBytes, $"{scratch} bytes of scratch memory");
        });
    }

    private static void Scrub(StorageEnvironment environment)
    {
        var pass = new ScrubPass(environment.Internals.Engine, ScrubPace.Unlimited(CancellationToken.None));
        using var reading = new EngineSnapshot(environment.Internals.Engine);

        // The pages that lead to the rest of a phase may be unreadable: the next call continues with the next phase.
        while (!pass.RunSlice(reading.Snapshot))
        {
        }
    }

    private StorageOptions Options()
    {
        var plain = StoreMaker.Options(image.Form);
        return new StorageOptions
        {
            BackgroundFlush = false,
            InitialJournalFileBytes = plain.InitialJournalFileBytes,
            MaxJournalFileBytes = plain.MaxJournalFileBytes,
            ScratchMemoryBytes = plain.ScratchMemoryBytes,
            ScrubInterval = plain.ScrubInterval,
            MaxGrowthBytes = plain.MaxGrowthBytes,
            KeyHeadCacheBytes = random.Next(3) == 0 ? 0 : plain.KeyHeadCacheBytes,
            VerifyEveryRead = random.Next(4) == 0,
            TornPageProtection = image.Form,
            MaxTransactionBytes = 4 << 20,
        };
    }

    private void Read(StorageEnvironment environment) => Try(() =>
    {
        using var reading = environment.BeginRead();
        foreach (var name in Names(reading.GetTreeNames))
            Try(() => ReadTree(reading, name));
    });

    private List<string> Names(Func<IReadOnlyList<string>> get)
    {
        // The catalog itself may be damaged: the trees that should exist are opened all the same.
        List<string> names = [.. image.Contents[image.LastTransaction].Names];
        Try(() => names.AddRange(get()));
        return [.. names.Distinct()];
    }

    private void ReadTree(ReadTransaction reading, string name)
    {
        var tree = default(Tree);
        var isOther = FixedContent.IsName(name) || IdTreeContent.IsName(name) || ValueSetContent.IsName(name);
        if (isOther || !IsOfKind(() => reading.TryOpenTree(name, out tree)))
        {
            ReadFixed(reading, name);
            ReadIds(reading, name);
            ReadValueSets(reading, name);
            return;
        }

        _ = tree.GetStatistics();
        var entries = EntriesOf(name);
        for (var i = 0; i < Math.Min(entries.Count, 8); i++)
        {
            var key = entries[random.Next(entries.Count)].Key;
            Try(() => Touch(tree.TryGet(key, out var value) ? value : default));
            Try(() => tree.Contains([.. key, 0]));
        }
        Try(() => ReadMany(tree, entries));
        Try(() => Scan(tree, forward: true));
        Try(() => Scan(tree, forward: false));
        if (entries.Count > 0)
            Try(() => ReadStream(tree, entries[random.Next(entries.Count)].Key));
        Try(() => Seek(tree, entries));
    }

    private static void ReadMany(Tree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        var batch = new LookupBatch();
        foreach ((var key, _) in entries.Take(50))
            batch.Add(key);
        tree.GetMany(batch);
        for (var i = 0; i < batch.Count; i++)
        {
            if (batch.TryGetValue(i, out var value))
                Touch(value);
        }
    }

    private void Scan(Tree tree, bool forward)
    {
        using var cursor = tree.OpenCursor();
        while (forward ? cursor.MoveNext() : cursor.MovePrevious())
        {
            Touch(cursor.Key);
            // One value may lead nowhere while the later ones are sound.
            var at = cursor;
            Try(() => Touch(at.Value));
        }
    }

    private static void ReadStream(Tree tree, byte[] key)
    {
        if (!tree.TryOpenStream(key, out var stream))
            return;
        using (stream)
        {
            var buffer = new byte[10_000];
            stream.ReadExactly(buffer, 0, (int)Math.Min(buffer.Length, stream.Length));
            stream.Position = Math.Max(0, stream.Length - 100);
            stream.ReadExactly(buffer, 0, (int)Math.Min(100, stream.Length));
        }
    }

    private void Seek(Tree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        using var cursor = tree.OpenCursor();
        for (var i = 0; i < 10; i++)
        {
            var key = entries.Count == 0 ? [1] : entries[random.Next(entries.Count)].Key;
            var found = random.Next(3) switch { 0 => cursor.Seek(key), 1 => cursor.SeekForPrevious(key), _ => cursor.SeekExact(key) };
            for (var step = random.Next(20); found && step > 0; step--)
                found = random.Next(2) == 0 ? cursor.MoveNext() : cursor.MovePrevious();
        }
    }

    /// <summary>Performs one transaction. After an operation that throws, it is rolled back, as its caller must do.</summary>
    private void Write(StorageEnvironment environment) => Try(() =>
    {
        using var writing = environment.BeginWrite();
        var names = Names(writing.GetTreeNames);
        for (var i = random.Next(1, 12); i > 0; i--)
            Change(writing, names[random.Next(names.Count)]);
        if (random.Next(5) > 0)
            writing.Commit();
    });

    private void Change(WriteTransaction writing, string name)
    {
        var tree = default(WriteTree);
        if (IdTreeContent.IsName(name))
            ChangeIds(writing, name);
        else if (ValueSetContent.IsName(name))
            ChangeValueSets(writing, name);
        else if (FixedContent.IsName(name) || !IsOfKind(() =>
            {
                tree = writing.CreateTree(name);
                return true;
            }))
            ChangeFixed(writing, name);
        else
            Change(writing, name, tree);
    }

    private void Change(WriteTransaction writing, string name, WriteTree tree)
    {
        var entries = EntriesOf(name);
        var known = entries.Count == 0 ? NewKey() : entries[random.Next(entries.Count)].Key;
        switch (random.Next(18))
        {
            case 0:
                for (var i = 0; i < 60; i++)
                    tree.Put(NewKey(), new byte[random.Next(300)]);
                break;
            case 1:
                tree.Put(known, new byte[random.Next(1500)]);
                break;
            case 2:
                tree.Put(known, new byte[random.Next(2000, 12_000)]);
                break;
            case 3:
                tree.Put(known, new byte[random.Next(16_384, 100_000)]);
                break;
            case 4:
                tree.Delete(known);
                break;
            case 5:
                DeleteSome(tree);
                break;
            case 6:
                foreach ((var key, _) in entries.Skip(random.Next(100)).Take(60))
                    tree.Delete(key);
                break;
            case 7:
                var savepoint = writing.CreateSavepoint();
                tree.Put(known, new byte[random.Next(4000)]);
                tree.Delete(entries.Count == 0 ? known : entries[0].Key);
                savepoint.Rollback();
                break;
            case 8:
                writing.DeleteTree(name);
                break;
            case 9:
                writing.CreateTree("new").Put(NewKey(), new byte[random.Next(3000)]);
                break;
            case 10 when !_isRecorded:
                tree.Reserve(known, random.Next(500)).Fill(1);
                break;
            case 11:
                using (var stream = new MemoryStream(new byte[random.Next(50_000)]))
                    tree.PutAsync(known, stream).AsTask().GetAwaiter().GetResult();
                break;
            case 12:
                tree.Insert(known, new byte[10]);
                break;
            case 13 or 14:
                DeleteRange(tree, known, entries.Count == 0 ? NewKey() : entries[random.Next(entries.Count)].Key);
                break;
            case 15:
                tree.Clear();
                break;
            case 16:
                Touch(tree.Exchange(known, new byte[random.Next(5000)]));
                break;
            default:
                Touch(tree.TryGet(known, out var value) ? value : default);
                break;
        }
    }

    private void DeleteRange(WriteTree tree, byte[] from, byte[] to) => tree.DeleteRange(random.Next(3) switch
    {
        0 => KeyRange.From(from),
        1 => KeyRange.Through(to),
        _ => KeyRange.From(from).Before(to),
    });

    private void DeleteSome(WriteTree tree)
    {
        using var cursor = tree.OpenCursor();
        for (var i = 0; i < 200 && cursor.MoveNext(); i++)
        {
            if (random.Next(3) > 0)
                cursor.Delete();
        }
    }

    private IReadOnlyList<(byte[] Key, byte[] Value)> EntriesOf(string name) =>
        image.Contents[image.LastTransaction].Trees.FirstOrDefault(tree => tree.Tree == name).Entries ?? [];

    private byte[] NewKey()
    {
        var key = new byte[random.Next(4, 200)];
        BinaryPrimitives.WriteInt32BigEndian(key, random.Next());
        return key;
    }

    /// <summary>Reads every byte: an inaccessible one ends the process.</summary>
    private static void Touch(ReadOnlySpan<byte> bytes) => bytes.Count((byte)0x5A);

    private void Try(Action use)
    {
        try
        {
            use();
        }
        catch (VoronException)
        {
            ReportedErrors++;
        }
    }
}
