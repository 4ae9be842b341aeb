using System.Buffers.Binary;

namespace Voron.Benchmarks.Measurement;

/// <summary>Salvages of one store: with a damaged leaf, and with nothing left but the data file.</summary>
internal sealed record SalvageRound
{
    public double DeviceRead { get; private init; }

    /// <summary>The salvage of the store with a damaged leaf.</summary>
    public required SalvageFigures Leaf { get; init; }

    /// <summary>The salvage of the data file alone: header and journals are deleted.</summary>
    public required SalvageFigures DataFile { get; init; }

    public static async Task<SalvageRound> MeasureAsync(string directory, long bytes, CancellationToken stop)
    {
        var place = Path.Combine(directory, "damaged");
        var alone = Path.Combine(directory, "data-file-alone");
        using var store = BackupStore.Create(place, bytes, new StorageOptions { BackgroundFlush = false });
        store.Environment.Flush();
        var content = store.ReadAll();
        var victim = store.Read(store.Items / 2);

        // Transactions behind the checkpoint, which only the journal has.
        var random = new Random(7);
        for (var transaction = 0; transaction < 200; transaction++)
            store.Update(10, random);
        Directory.CreateDirectory(alone);
        File.Copy(store.DataPath, Path.Combine(alone, Path.GetFileName(store.DataPath)));
        var newest = store.ReadAll();
        store.Dispose();

        LinuxCalls.SyncAll();
        LinuxCalls.ForgetDirectory(place);
        LinuxCalls.ForgetDirectory(alone);
        var deviceRead = SequentialDevice.Read(store.DataPath);
        var dataFile = await SalvageAsync(store, alone, content, stop).ConfigureAwait(false);
        Damage(store.DataPath, victim);
        LinuxCalls.SyncAll();
        LinuxCalls.ForgetDirectory(place);
        var leaf = await SalvageAsync(store, place, newest, stop).ConfigureAwait(false);
        return new SalvageRound { DeviceRead = deviceRead, Leaf = leaf, DataFile = dataFile };
    }

    private static async Task<SalvageFigures> SalvageAsync(BackupStore store, string source, ulong[] content, CancellationToken stop)
    {
        var target = source + "-salvaged";
        SalvageReport? report = null;
        var memory = await AnonymousMemory.GrowthAsync(
            async () => report = await Salvage.RunAsync(source, target, null, stop).ConfigureAwait(false)).ConfigureAwait(false);
        var found = store.ReadAll(target);
        Directory.Delete(target, recursive: true);
        var figures = new SalvageFigures
        {
            MegabytesPerSecond = store.Bytes / report!.Duration.TotalSeconds / 1e6,
            MemoryBytes = memory,
            Damage = report.DamageCount,
        };
        for (var item = 0; item < content.Length; item++)
        {
            if (found[item] == content[item])
                continue;
            if (found[item] != 0)
                figures = figures with { Wrong = figures.Wrong + 1 };
            else if (IsReported(report, item))
                figures = figures with { Lost = figures.Lost + 1 };
            else
                figures = figures with { Missing = figures.Missing + 1 };
        }

        return figures;
    }

    private static bool IsReported(SalvageReport report, long item)
    {
        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, item);
        foreach (var tree in report.Trees)
        {
            foreach (var range in tree.LostRanges)
            {
                if ((range.Low is null || key.SequenceCompareTo(range.Low) >= 0) && (range.High is null || key.SequenceCompareTo(range.High) < 0))
                    return true;
            }
        }

        return false;
    }

    // The page is that of the value, which is found by its bytes.
    private static void Damage(string path, ReadOnlySpan<byte> value)
    {
        const int PieceBytes = 64 << 20;
        var piece = new byte[PieceBytes + value.Length];
        using var file = File.Open(path, FileMode.Open);
        for (var offset = 0L; offset < file.Length; offset += PieceBytes)
        {
            file.Position = offset;
            var read = file.ReadAtLeast(piece, piece.Length, throwOnEndOfStream: false);
            var found = piece.AsSpan(0, read).IndexOf(value);
            if (found < 0)
                continue;
            file.Position = offset + found;
            file.WriteByte((byte)~value[0]);
            return;
        }

        throw new BenchmarkException($"{path} does not have the bytes of the value to damage.");
    }
}

/// <summary>A salvage, compared with what the store had.</summary>
internal sealed record SalvageFigures
{
    public double MegabytesPerSecond { get; init; }

    public long MemoryBytes { get; init; }

    public long Damage { get; init; }

    /// <summary>Items that are missing, and that the report names.</summary>
    public long Lost { get; init; }

    /// <summary>Items that are missing without a word.</summary>
    public long Missing { get; init; }

    /// <summary>Items with another value.</summary>
    public long Wrong { get; init; }
}
