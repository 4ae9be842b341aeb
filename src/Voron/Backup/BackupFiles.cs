using System.Collections;

namespace Voron.Backup;

/// <summary>The files of a backup chain, the full one first. Chains share their beginnings, so each backup adds only one object.</summary>
internal sealed class BackupFiles(BackupFiles? before, string last) : IReadOnlyList<string>
{
    private readonly string _first = before?._first ?? last;

    public int Count { get; } = (before?.Count ?? 0) + 1;

    public string this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
            if (index == 0)
                return _first;
            var files = this;
            while (files.Count > index + 1)
                files = files.Before!;
            return files.Last;
        }
    }

    private BackupFiles? Before { get; } = before;

    private string Last { get; } = last;

    public IEnumerator<string> GetEnumerator()
    {
        var all = new string[Count];
        for (var files = this; files != null; files = files.Before)
            all[files.Count - 1] = files.Last;
        return ((IEnumerable<string>)all).GetEnumerator();
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
