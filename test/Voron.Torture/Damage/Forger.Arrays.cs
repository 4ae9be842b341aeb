using Voron.Format;

namespace Voron.Torture.Damage;

/// <content>Array pages.</content>
internal sealed partial class Forger
{
    /// <summary>Changes the fields of an array page that lead to other bytes, or to other pages, and its keys.</summary>
    private string ChangeArrayPage()
    {
        var page = FindArrayPage();
        if (page < 0)
            return ChangeTreeRecord();
        var header = store.Page(page);
        if (header.ValueSize > ArrayLayout.MaxValueSize(ForgedStore.PageSize))
            return ChangePageHeader();
        var isBranch = (header.Flags & ArrayLayout.BranchFlag) != 0;
        var layout = new ArrayLayout(ForgedStore.PageSize, header.ValueSize);
        var bytes = store.ChangePage(page);
        var cells = Math.Clamp((int)header.ArrayCells, 1, layout.Capacity);
        var cell = random.Next(cells);
        var orderSize = layout.IsWide ? 2 : 1;
        var order = bytes[ArrayLayout.OrderStart..];
        switch (random.Next(8))
        {
            case 0:
                return ChangeField(page, 41, 1);
            case 1 or 2:
                return ChangeField(page, 48 + (2 * random.Next(3)), 2);
            case 3:
                bytes[41] ^= ArrayLayout.InOrderFlag;
                return $"page {page} {((bytes[41] & ArrayLayout.InOrderFlag) != 0 ? "claims to be" : "no longer claims to be")} in order";
            case 4:
                return ChangeField(page, ArrayLayout.OrderStart + (cell * orderSize), orderSize);
            case 5:
                var other = random.Next(cells);
                Set(order[(cell * orderSize)..], orderSize, Get(order[(other * orderSize)..], orderSize));
                return $"page {page}: entry {cell} has the cell of entry {other}";
            case 6 when isBranch && header.ValueSize == ArrayLayout.ChildSize:
                var target = random.Next(3) == 0 ? page : random.NextInt64(store.PageCount);
                Set(bytes[(layout.ValuesStart + (cell * ArrayLayout.ChildSize))..], ArrayLayout.ChildSize, target);
                return $"page {page}: the child in cell {cell} becomes page {target}";
            default:
                return ChangeField(page, layout.KeysStart + (cell * ArrayLayout.KeySize), ArrayLayout.KeySize);
        }
    }

    private string ChangeField(long page, int field, int size)
    {
        var bytes = store.ChangePage(page);
        var value = NewValue(Get(bytes[field..], size));
        Set(bytes[field..], size, value);
        return $"array page {page}, byte {field}: {size} bytes become {value}";
    }

    // There are many leaves, but the branches lead to other pages.
    private long FindArrayPage()
    {
        for (var attempt = 0; attempt < 60; attempt++)
        {
            var page = random.NextInt64(3, store.PageCount);
            var header = store.Page(page);
            if (header.Kind == PageKind.Array && header.EntryCount > 0 && ((header.Flags & ArrayLayout.BranchFlag) != 0 || attempt > 20))
                return page;
        }

        return -1;
    }
}
