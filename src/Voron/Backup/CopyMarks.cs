using Voron.Paging;

namespace Voron.Backup;

/// <summary>The state of the page copies: two bits per page.</summary>
/// <remarks>
/// A copy is <em>sound</em> if it proves itself: the page has a valid checksum, belongs to an overflow extent with a valid checksum, or was copied
/// from memory. A page is <em>claimed</em> if a sound leaf shows that it belongs to a large value, whose pages have no individual checksums. Each
/// copy is judged again. A claim holds until the page changes: when the last leaf that claims a value page is removed, the page becomes free, which
/// is a change.
/// </remarks>
internal sealed class CopyMarks : IDisposable
{
    private readonly PageBitmap _sound;
    private readonly PageBitmap _claimed;

    /// <param name="maxPageCount">The most pages.</param>
    public CopyMarks(long maxPageCount)
    {
        _sound = new PageBitmap(maxPageCount);
        try
        {
            _claimed = new PageBitmap(maxPageCount);
        }
        catch
        {
            _sound.Dispose();
            throw;
        }
    }

    /// <summary>Commits memory for the bits of the first pages.</summary>
    /// <exception cref="InsufficientMemoryException">There is not enough memory for the bits.</exception>
    public void EnsureRoom(long pages)
    {
        _sound.EnsureCommitted(pages);
        _claimed.EnsureCommitted(pages);
    }

    public void NoteSound(long first, long pages) => _sound.Set(first, pages);

    public void NoteUnsound(long first, long pages) => _sound.Clear(first, pages);

    public void NoteClaimed(long first, long pages) => _claimed.Set(first, pages);

    public bool IsClaimed(long page) => _claimed.IsSet(page);

    public bool IsSound(long page) => _sound.IsSet(page);

    /// <summary>Clears the marks of changed pages.</summary>
    public void Forget(long first, long pages)
    {
        _sound.Clear(first, pages);
        _claimed.Clear(first, pages);
    }

    /// <summary>Returns the bits of 64 pages: 1 if the copy of a page is sound or claimed.</summary>
    public ulong KnownIn(long word) => _sound.Word(word) | _claimed.Word(word);

    public void Dispose()
    {
        _sound.Dispose();
        _claimed.Dispose();
    }
}
