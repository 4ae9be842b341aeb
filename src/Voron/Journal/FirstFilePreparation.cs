using Voron.Format;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>
/// Prepares the first file beside the rest of the opening. A failure has no consequence: the commit that needs the file tries again, and reports its
/// own failure.
/// </summary>
internal sealed class FirstFilePreparation(JournalFileSet files, JournalSeal[] seals) : OfferedWork
{
    protected override void Work() => files.PrepareFirst(seals);
}
