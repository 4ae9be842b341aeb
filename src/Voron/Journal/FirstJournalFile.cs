using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>
/// The file for the first record since the opening. It is prepared without a name, so that the directory does not change before that record, which
/// then has to wait for the name alone. For the holder of the file set's lock.
/// </summary>
/// <remarks>
/// <code>
///   wanted ── Prepare ──▶ prepared: blocks, headers ── TryTake ──▶ named, current
///      └────────────────────────┴─── End: the first record has another file, or there will be none ──▶ gone
/// </code>
/// </remarks>
internal sealed class FirstJournalFile(JournalFileMaker maker, JournalEpochs epochs)
{
    private JournalFile? _file;
    private bool _isOver;

    /// <summary>True while there is neither such a file nor a first record.</summary>
    public bool IsWanted => _file == null && !_isOver;

    /// <summary>Prepares the file.</summary>
    /// <param name="length">Its length in bytes.</param>
    /// <param name="seals">The seals for its header.</param>
    /// <exception cref="DiskException">The file cannot be made; nothing has changed.</exception>
    /// <exception cref="OutOfMemoryException">There is no memory; nothing has changed.</exception>
    public void Prepare(long length, ReadOnlySpan<JournalSeal> seals)
    {
        var file = maker.MakeUnnamed(length);
        try
        {
            epochs.Prepare(file, seals);
        }
        catch
        {
            maker.Delete(file);
            throw;
        }

        _file = file;
    }

    /// <summary>Names the file for a first record that needs that many bytes, or returns null if there is none that suits.</summary>
    /// <exception cref="DiskException">The name may not be durable; the file is deleted.</exception>
    public JournalFile? TryTake(long minLength)
    {
        if (_file is not { } file)
            return null;
        _file = null;
        var isNamed = false;
        try
        {
            isNamed = Suits(file, minLength) && maker.TryGiveFirstName(file);
            return isNamed ? file : null;
        }
        finally
        {
            // Without a name, the file was never seen, and its number is free.
            if (file.Name.Length > 0)
                epochs.SkipTo(file.Epoch);
            if (!isNamed)
                maker.Delete(file);
        }
    }

    /// <summary>Gives up the file, unless it has been taken, and wants no other.</summary>
    public void End()
    {
        _isOver = true;
        _file?.Close();
        _file = null;
    }

    // A record may be larger than others, and the format may have been upgraded since the file was prepared.
    private bool Suits(JournalFile file, long minLength) =>
        file.Length >= minLength + JournalFormat.FirstRecordOffset && file.Version == epochs.Format.Version && file.Epoch == epochs.Next;
}
