using Voron.Format;

namespace Voron.Journal;

/// <summary>The journal files that replay no longer needs, kept for reuse; for the holder of the file set's lock.</summary>
internal sealed class ReleasedFiles(JournalFileMaker maker, long maxFileBytes)
{
    // The load needs the files that a flush releases until the next flush.
    private const int MinKept = 2;
    private const int MaxKeptFiles = 10;

    // A file made for a single huge record would take the space that small records need, and look like a full journal.
    private const int LargestKeptFiles = 4;

    private readonly List<JournalFile> _files = [];

    public int Count => _files.Count;

    /// <summary>The size in bytes of the largest file that is kept.</summary>
    public long LargestKeptBytes => LargestKeptFiles * maxFileBytes;

    /// <summary>The total size in bytes.</summary>
    public long Bytes
    {
        get
        {
            var bytes = 0L;
            foreach (var file in _files)
                bytes += file.Length;
            return bytes;
        }
    }

    /// <summary>Adds a file; deletes it if it cannot be used again.</summary>
    public void Add(JournalFile file)
    {
        if (file.HasBothHeaders)
        {
            file.Close();
            _files.Add(file);
        }
        else
        {
            maker.Delete(file);
        }
    }

    /// <summary>
    /// Takes a file with space for that many bytes, or returns null if there is none: the longest of the usual sizes, which fills up last, or else
    /// the shortest of those created for huge records.
    /// </summary>
    public JournalFile? TryTake(long minLength)
    {
        var best = -1;
        for (var i = 0; i < _files.Count; i++)
        {
            if (_files[i].Length >= minLength + JournalFormat.FirstRecordOffset
                && (best < 0 || IsBetter(_files[i].Length, _files[best].Length)))
                best = i;
        }

        if (best < 0)
            return null;
        var file = _files[best];
        _files.RemoveAt(best);
        return file;
    }

    /// <summary>Keeps the largest files, which serve every size, but no huge ones, and none that the load has outgrown.</summary>
    /// <param name="least">The size in bytes below which a file is outgrown.</param>
    public void Trim(long least)
    {
        _files.Sort(static (left, right) => left.Length.CompareTo(right.Length));
        while (_files.Count > 0 && _files[^1].Length > LargestKeptBytes)
            Delete(_files.Count - 1);
        while (_files.Count > 0 && _files[0].Length < least)
            Delete(0);
        while (_files.Count > MinKept && Bytes > MaxKeptFiles * maxFileBytes)
            Delete(0);
    }

    /// <summary>Deletes the files of at least that many bytes.</summary>
    public void DeleteFrom(long least)
    {
        for (var i = _files.Count - 1; i >= 0; i--)
        {
            if (_files[i].Length >= least)
                Delete(i);
        }
    }

    /// <summary>Deletes the longest file, so that few files must be deleted to free space for another one.</summary>
    public void DeleteLongest()
    {
        var longest = 0;
        for (var i = 1; i < _files.Count; i++)
        {
            if (_files[i].Length > _files[longest].Length)
                longest = i;
        }

        Delete(longest);
    }

    private bool IsBetter(long length, long other) => length <= maxFileBytes ? length > other || other > maxFileBytes : length < other;

    private void Delete(int index)
    {
        maker.Delete(_files[index]);
        _files.RemoveAt(index);
    }
}
