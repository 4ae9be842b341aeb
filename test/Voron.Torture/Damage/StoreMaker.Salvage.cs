using System.Globalization;
using Voron.Tables;

namespace Voron.Torture.Damage;

/// <content>Stores whose old pages, or whose size, matter to a salvage alone.</content>
internal sealed partial class StoreMaker
{
    private const int ManyTrees = 100;

    /// <summary>Creates the images of <see cref="MakeAll"/>, and those for a salvage.</summary>
    public static IReadOnlyList<StoreImage> MakeForSalvage() =>
    [
        .. MakeAll(hasIds: true),
        Unwritten(TornPageProtection.Checksums, each: 1), Unwritten(TornPageProtection.Checksums, each: 2),
        Unwritten(TornPageProtection.FullPageImages, each: 2),
        Overtaken(),
        PlacesUsedAgain(),
        LargeCatalog(),
        LongValue(),
        Tables(),
    ];

    /// <summary>A flush has stamped the file as finished, but the device has lost its pages, or every second of them.</summary>
    private static StoreImage Unwritten(TornPageProtection form, int each)
    {
        using var maker = new StoreMaker(form, JournalCompression.Never, hasIds: true);
        maker.Fill();
        maker._environment.Flush();
        maker.Change(4);
        var before = maker._disk.Copy()[ForgedStore.DataFile];
        StoreImage? image = null;
        maker._disk.BeforeWrite = name =>
        {
            if (name == ForgedStore.HeaderFile)
            {
                image ??= maker.Take(
                    $"flushing, stamped as finished, {(each == 1 ? "no page" : "every second page")} written, {form}",
                    files => files.With(ForgedStore.DataFile, WithOldPages(files[ForgedStore.DataFile], before, each)));
            }
        };
        maker._environment.Flush();
        return image!;
    }

    /// <summary>
    /// A flush is over but for its header. Its pages have bytes that no state has, of values that a transaction has put and deleted: a salvage that
    /// has lost the transaction finds them if it makes older ones again.
    /// </summary>
    private static StoreImage Overtaken()
    {
        const int keys = 150;
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        maker.Commit(writing =>
        {
            var tree = writing.CreateFixedTree("fixed", FixedValueBytes);
            for (var i = 0; i < keys; i++)
                tree.Put(i * 7 % keys, Value(i, FixedValueBytes));
        });
        maker._environment.Flush();
        for (var round = 0; round < 4; round++)
        {
            var first = 20 + round * 10;
            maker.Commit(writing =>
            {
                var tree = writing.OpenFixedTree("fixed");
                tree.Delete(first - 20);
                for (var key = first; key < first + 8; key++)
                {
                    tree.Put(key, Value(1_000 + key, FixedValueBytes));
                    tree.Delete(key);
                }
            });
        }

        StoreImage? image = null;
        maker._disk.BeforeWrite = name =>
        {
            if (name == ForgedStore.HeaderFile)
                image ??= maker.Take("flushing, values that were put and deleted");
        };
        maker._environment.Flush();
        return image!;
    }

    // Page 0 keeps its stamp.
    private static byte[] WithOldPages(byte[] now, byte[] before, int each)
    {
        const int size = ForgedStore.PageSize;
        var bytes = (byte[])now.Clone();
        var differing = 0;
        for (var at = size; at + size <= bytes.Length; at += size)
        {
            var old = at + size <= before.Length ? before.AsSpan(at, size) : new byte[size];
            if (!old.SequenceEqual(bytes.AsSpan(at, size)) && ++differing % each == 0)
                old.CopyTo(bytes.AsSpan(at));
        }

        return bytes;
    }

    /// <summary>Leaves of a deleted tree are still in the file, and the places of their values have others of the same lengths.</summary>
    private static StoreImage PlacesUsedAgain()
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        maker.Commit(writing =>
        {
            var older = writing.CreateTree("older");
            for (var i = 0; i < 24; i++)
                older.Put([.. Key(i), .. Value(i, 300)], Value(i, i % 4 == 3 ? 9_000 : 3_000));
        });
        maker._environment.Flush();
        maker.Commit(writing => writing.DeleteTree("older"));
        maker._environment.Flush();
        maker.Commit(writing =>
        {
            var newer = writing.CreateTree("newer");
            for (var i = 100; i < 116; i++)
                newer.Put(Key(i), Value(i, i % 4 == 3 ? 9_000 : 3_000));
        });
        maker._environment.Flush();
        maker.Commit(writing => writing.OpenTree("newer").Put(Key(99), Value(99, 50)));
        maker._environment.Internals.ConfirmDurability();
        return maker.Take("places used again");
    }

    /// <summary>The catalog has a root and several leaves; a part of its changes is in the journal.</summary>
    private static StoreImage LargeCatalog()
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        maker.Commit(writing =>
        {
            for (var i = 0; i < ManyTrees; i++)
            {
                var tree = writing.CreateTree(LongName(i));
                if (i % 3 == 0)
                    tree.Put(Key(i), Value(i, 50));
            }
        });
        maker._environment.Flush();
        maker.Commit(writing =>
        {
            for (var i = 1; i < ManyTrees; i += 9)
                writing.DeleteTree(LongName(i));
            writing.CreateTree(LongName(ManyTrees)).Put(Key(1), Value(1, 50));
            writing.RenameTree(LongName(3), LongName(ManyTrees + 1));
            writing.OpenTree(LongName(6)).Put(Key(7), Value(7, 3_000));
        });
        maker._environment.Internals.ConfirmDurability();
        return maker.Take("large catalog");
    }

    /// <summary>A value is longer than what a salvage keeps in memory, so it is read twice.</summary>
    private static StoreImage LongValue()
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        maker.Commit(writing =>
        {
            var values = writing.CreateTree("values");
            values.Put(Key(1), Value(1, 3_000));
            values.Put(Key(2), Value(2, 1_200_000));
        });
        maker._environment.Dispose();
        return maker.Take("long value");
    }

    /// <summary>
    /// Two tables; a part of the changes is in the journal. All indexes are unique, because the entries of
    /// others are ids.
    /// </summary>
    private static StoreImage Tables()
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        var numbers = TableDefinition.CreateWithRowIds("numbers", 1, new NumberCodec(), static (int number) => number);
        var texts = TableDefinition.Create("texts", 1, new NumberCodec(), KeyCodec.Int32, static (int number) => number)
            .UniqueIndex("negative", 1, static (in int number, ref IndexKeys keys) => keys.Add(-number));
        maker.Commit(writing =>
        {
            writing.CreateTree("items").Put(Key(1), Value(1, 50));
            for (var i = 0; i < 200; i++)
            {
                writing.CreateTable(numbers).Insert(i);
                writing.CreateTable(texts).Insert(i);
            }
        });
        maker._environment.Flush();
        maker.Commit(writing =>
        {
            for (var i = 200; i < 260; i++)
                writing.OpenTable(texts).Insert(i);
            for (var i = 150; i < 200; i++)
                writing.OpenTable(numbers).Delete(i);
        });
        maker._environment.Internals.ConfirmDurability();
        return maker.Take("tables");
    }

    private static string LongName(int i) => string.Create(CultureInfo.InvariantCulture, $"{i:D3}-{new string('n', 190)}");

    /// <summary>Writes a number, with bytes behind it that follow from it.</summary>
    private sealed class NumberCodec : IRowCodec<int>
    {
        public void Write(in int row, ref RowWriter writer)
        {
            writer.WriteInt32(row);
            writer.WriteBytes(Value(row, 40 + row % 50));
        }

        public int Read(ref RowReader reader) => reader.ReadInt32();
    }
}
