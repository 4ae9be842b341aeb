using Voron.Format;

namespace Voron.Journal;

/// <summary>A journal file as recovery finds it: its header, its seals, and whether both copies of the header are valid.</summary>
internal sealed record JournalFileInfo(string Name, long FileLength, JournalFileHeader Header, JournalSeal[] Seals, bool HasBothHeaders)
{
    /// <summary>Returns true if replay needs the file when it starts at that position; other files can be reused.</summary>
    public bool IsLive(in JournalPosition start) =>
        Header.Epoch > start.Epoch || (Header.Epoch == start.Epoch && Header.Incarnation == start.Incarnation);
}
