using Voron.Format;

namespace Voron.Journal;

/// <summary>The position at which a journal continues after an opening.</summary>
/// <param name="Position">The end of the last record.</param>
/// <param name="Seals">The seals for the header of the first new file.</param>
internal readonly record struct JournalStart(JournalPosition Position, JournalSeal[] Seals);
