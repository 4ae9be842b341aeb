using Voron.Format;

namespace Voron.Torture.Damage;

/// <content>Id pages.</content>
internal sealed partial class Forger
{
    private const int DirectoryEntryBytes = 16;

    /// <summary>Changes the header of an id page, its directory, or a block.</summary>
    private string ChangeIdPage()
    {
        var page = FindIdPage();
        if (page < 0)
            return ChangeArrayPage();
        var blocks = Math.Clamp((int)store.Page(page).EntryCount, 1, 200);
        var entry = PageHeader.Size + (random.Next(blocks) * DirectoryEntryBytes);
        switch (random.Next(8))
        {
            case 0:
                return ChangeField(page, 48 + (2 * random.Next(3)), 2);
            case 1:
                return ChangeField(page, entry, 8);
            case 2:
                return ChangeField(page, entry + 8, 2);
            case < 6:
                return ChangeField(page, entry + 10 + random.Next(6), 1);
            case 6:
                var other = PageHeader.Size + (random.Next(blocks) * DirectoryEntryBytes);
                var bytes = store.ChangePage(page);
                bytes.Slice(other, DirectoryEntryBytes).CopyTo(bytes[entry..]);
                return $"id page {page}: the directory has at {entry} what it has at {other}";
            default:
                return ChangeField(page, random.Next(PageHeader.Size, ForgedStore.PageSize - 8), 8);
        }
    }

    private long FindIdPage()
    {
        for (var attempt = 0; attempt < 60; attempt++)
        {
            var page = random.NextInt64(3, store.PageCount);
            if (store.Page(page) is { Kind: PageKind.Ids, EntryCount: > 0 })
                return page;
        }

        return -1;
    }
}
