using System.Globalization;
using System.Text;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Damage;

/// <summary>
/// Creates small environments in the states that matter: closed, in the midst of a flush, with a journal to be replayed. Apart from the
/// random parts of every environment (its id, the incarnations of its files), each is created identically each time.
/// </summary>
internal sealed partial class StoreMaker : IDisposable
{
    private const int Keys = 160;
    private const int LargeBytes = 70_000;

    private readonly ImageDisk _disk = new(new StoreFiles([]), isLent: true);
    private readonly Dictionary<long, StoreContent> _contents = [];
    private readonly TornPageProtection _form;
    private readonly JournalCompression _compression;
    private readonly bool _hasIds;
    private readonly StorageEnvironment _environment;
    private long _pageCount;
    private int _round;

    private StoreMaker(TornPageProtection form, JournalCompression compression, bool hasIds = false)
    {
        _form = form;
        _compression = compression;
        _hasIds = hasIds;
        _environment = Open();
    }

    /// <summary>Creates all images, each from its own environment.</summary>
    /// <param name="hasIds">True to have an id tree in each of them.</param>
    public static IReadOnlyList<StoreImage> MakeAll(bool hasIds = false) =>
    [
        Closed(hasIds), DurabilityConfirmed(TornPageProtection.Checksums, JournalCompression.Never, hasIds),
        DurabilityConfirmed(TornPageProtection.FullPageImages, JournalCompression.Always, hasIds),
        Unconfirmed(hasIds), Flushing(TornPageProtection.Checksums, "voron.data", hasIds),
        Flushing(TornPageProtection.Checksums, "voron.header", hasIds), Flushing(TornPageProtection.FullPageImages, "voron.header", hasIds),
        JournalSnapshot(hasIds), Sealed(hasIds),
    ];

    public static StorageOptions Options(TornPageProtection form, bool readOnly = false, Microsoft.Extensions.Logging.ILogger? logger = null) => new()
    {
        BackgroundFlush = false,
        JournaledValueBytes = 0,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 128 << 10,
        ScratchMemoryBytes = 4 << 20,
        KeyHeadCacheBytes = 64 << 10,
        ScrubInterval = Timeout.InfiniteTimeSpan,
        MaxGrowthBytes = 1 << 20,
        TornPageProtection = form,
        ReadOnly = readOnly,
        LoggerFactory = OneLoggerFactory.Of(logger),
    };

    /// <summary>All content is in the data file, and the header says so.</summary>
    public static StoreImage Closed(bool hasIds = false)
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Always, hasIds);
        maker.Fill();
        maker._environment.Dispose();
        return maker.Take("closed");
    }

    /// <summary>
    /// Some content is in the data file, later transactions are in the journal, and a record confirms the durability of the last.
    /// </summary>
    public static StoreImage DurabilityConfirmed(TornPageProtection form, JournalCompression compression, bool hasIds = false)
    {
        using var maker = new StoreMaker(form, compression, hasIds);
        maker.Fill();
        maker._environment.Flush();
        maker.Change(4);
        maker._environment.Internals.ConfirmDurability();
        return maker.Take($"durability confirmed, {form}");
    }

    private static StoreImage Unconfirmed(bool hasIds)
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never, hasIds);
        maker.Fill();
        maker._environment.Flush();
        maker.Change(3);
        return maker.Take("durability not confirmed");
    }

    /// <summary>The process was killed when its flush was about to write to the file.</summary>
    private static StoreImage Flushing(TornPageProtection form, string file, bool hasIds)
    {
        using var maker = new StoreMaker(form, JournalCompression.Never, hasIds);
        maker.Fill();
        maker._environment.Flush();
        maker.Change(4);
        StoreImage? image = null;
        maker._disk.BeforeWrite = name =>
        {
            if (name == file)
                image ??= maker.Take($"flushing, before {file} is written, {form}");
        };
        maker._environment.Flush();
        return image!;
    }

    /// <summary>A reader held the flusher back, and a journal snapshot holds the versions that it could not write.</summary>
    private static StoreImage JournalSnapshot(bool hasIds)
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never, hasIds);
        maker.Fill();
        maker._environment.Flush();
        using (maker._environment.BeginRead())
        {
            maker.Change(3);
            if (!maker._environment.Internals.WriteJournalSnapshot())
                throw new TortureException("No journal snapshot was written.");
            maker.Change(2);
            maker._environment.Internals.ConfirmDurability();
            return maker.Take("with a journal snapshot");
        }
    }

    /// <summary>The environment has been recovered before, so that a later journal file seals an earlier one.</summary>
    private static StoreImage Sealed(bool hasIds)
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never, hasIds);
        maker.Fill();
        maker._environment.Flush();
        maker.Change(3);
        var killed = maker._disk.Copy();
        using var second = new StoreMaker(maker, killed);
        second.Change(3);
        second._environment.Internals.ConfirmDurability();
        return second.Take("recovered and continued");
    }

    private StoreMaker(StoreMaker before, StoreFiles files)
    {
        _form = before._form;
        _compression = before._compression;
        _hasIds = before._hasIds;
        _disk = new ImageDisk(files, isLent: true);
        _round = before._round;
        _pageCount = before._pageCount;
        foreach ((var id, var content) in before._contents)
            _contents[id] = content;
        _environment = Open();
    }

    public void Dispose()
    {
        _disk.BeforeWrite = null;
        _environment.Dispose();
        _disk.Free();
    }

    private StorageEnvironment Open()
    {
        var plain = Options(_form);
        return StorageEnvironment.Open(_disk, new StorageOptions
        {
            JournaledValueBytes = 0,
            BackgroundFlush = false,
            InitialJournalFileBytes = plain.InitialJournalFileBytes,
            MaxJournalFileBytes = plain.MaxJournalFileBytes,
            ScratchMemoryBytes = plain.ScratchMemoryBytes,
            ScrubInterval = plain.ScrubInterval,
            MaxGrowthBytes = plain.MaxGrowthBytes,
            TornPageProtection = _form,
            JournalCompression = _compression,
        });
    }

    private StoreImage Take(string name, Func<StoreFiles, StoreFiles>? change = null)
    {
        var files = _disk.Copy();
        // The space that the file has gained ahead of need holds nothing that could be damaged.
        var data = files[ForgedStore.DataFile];
        files = files.With(ForgedStore.DataFile, data[..(int)Math.Min(data.Length, _pageCount * ForgedStore.PageSize)]);
        files = change?.Invoke(files) ?? files;
        var last = _contents.Keys.Max();
        var store = new ForgedStore(files);
        var records = store.Records.Select(record =>
        {
            var header = store.Read(record);
            var id = header.Kind == RecordKind.Transaction ? header.State.TransactionId : 0;
            return new RecordPlace(record.File, record.Offset, header.AlignedLength, id);
        });
        return new StoreImage(name, files, last, _contents) { Form = _form, Records = [.. records], Needed = FindNeeded(files) };
    }

    private NeededBytes FindNeeded(StoreFiles files)
    {
        using var disk = new ImageDisk(files) { IsReadOnly = true };
        using var environment = StorageEnvironment.Open(disk, Options(_form, readOnly: true));
        return NeededBytes.Of(environment, files[ForgedStore.DataFile].Length);
    }

    /// <summary>Writes trees of one to three levels, overflow values, large values, and leaves holes where some were.</summary>
    private void Fill()
    {
        Commit(writing =>
        {
            var items = writing.CreateTree("items");
            for (var i = 0; i < Keys; i++)
                items.Put(Key(i), Value(i, 90));
            writing.CreateTree("few").Put(Key(1), Value(1, 10));
            writing.CreateTree("empty");
            FillFixed(writing);
            if (_hasIds)
                FillIds(writing, SmallSet);
        });
        Commit(writing =>
        {
            var values = writing.CreateTree("values");
            values.Put(Key(1), Value(1, 3_000));
            values.Put(Key(2), Value(2, 9_000));
            values.Put(Key(3), Value(3, 20_000));
            values.Put(Key(4), Value(4, LargeBytes));
            values.Put(Key(5), Value(5, 30_000));
        });
        Commit(writing =>
        {
            var wide = writing.CreateTree("wide");
            for (var i = 0; i < 24; i++)
                wide.Put([.. Key(i), .. Value(i, 700)], Value(i, 900));
            writing.OpenTree("values").Delete(Key(5));
        });
    }

    /// <summary>Commits transactions of each kind: few bytes, new pages, freed pages, extents, values that bypass the journal.</summary>
    private void Change(int transactions)
    {
        for (var i = 0; i < transactions; i++)
        {
            var round = ++_round;
            Commit(writing =>
            {
                var items = writing.OpenTree("items");
                for (var k = 0; k < 6; k++)
                    items.Put(Key((round * 17) + (k * 31)), Value(round, 60 + k));
                var values = writing.OpenTree("values");
                values.Put(Key(10 + round), Value(round, 6_000));
                values.Put(Key(2), Value(round, 9_000 - round));
                if (round % 2 == 0)
                    values.Put(Key(20 + round), Value(round, 17_000));
                if (round == 2)
                    writing.DeleteTree("wide");
                if (round == 3)
                    writing.RenameTree("few", "a few");
                ChangeFixed(writing, round);
                if (_hasIds)
                    ChangeIds(writing, round);
                items.Delete(Key(round * 11));
            });
        }
    }

    private void Commit(Action<WriteTransaction> change)
    {
        using (var writing = _environment.BeginWrite())
        {
            change(writing);
            writing.Commit();
        }
        _pageCount = _environment.GetStatistics().PageCount;
        using var reading = _environment.BeginRead();
        _contents[reading.TransactionId] = StoreContent.Of(reading);
    }

    private static byte[] Key(int i) => Encoding.ASCII.GetBytes(i.ToString("D6", CultureInfo.InvariantCulture));

    private static byte[] Value(int seed, int length) => SeededBytes.Make(seed, length);
}
