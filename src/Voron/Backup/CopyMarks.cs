using Voron.Paging;

namespace Voron.Backup;

/// <summary>What is known of the copies of pages: two bits a page.</summary>
/// <remarks>
/// A copy is <em>sound</em> if it proves itself: it is a page with a right checksum, belongs to an overflow extent with one, or comes from memory. A
/// page is <em>claimed</em> if a sound leaf says that it belongs to a large value, whose pages have no checksums of their own. Each copy decides anew
/// whether it is sound. A claim holds until the page changes: with the last leaf that claims it, a page of a value becomes free, and that is a
/// change.
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

    /// <summary>Makes room for the bits of the first pages.</summary>
    /// <exception cref="InsufficientMemoryException">There is no memory for the bits.</exception>
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

    /// <summary>Forgets what is known of pages that have changed.</summary>
    public void Forget(long first, long pages)
    {
        _sound.Clear(first, pages);
        _claimed.Clear(first, pages);
    }

    /// <summary>Returns the bits of 64 pages: 1 if the copy of a page is known to be right.</summary>
    public ulong KnownIn(long word) => _sound.Word(word) | _claimed.Word(word);

    public void Dispose()
    {
        _sound.Dispose();
        _claimed.Dispose();
    }
}
