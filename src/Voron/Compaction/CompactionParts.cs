using Voron.Flushing;
using Voron.Staging;
using Voron.Transactions;

namespace Voron.Compaction;

/// <summary>The services of the environment that a compaction uses.</summary>
/// <param name="Entrance">Gives the run the writer.</param>
/// <param name="Flusher">Writes the moved pages to the data file.</param>
/// <param name="Reclaimer">Shortens the file.</param>
/// <param name="Staging">Writes large values without the writer.</param>
internal readonly record struct CompactionParts(WriterEntrance Entrance, Flusher Flusher, SpaceReclaimer Reclaimer, StagingArea Staging);
