namespace Voron.FreeSpace;

/// <summary>A range of pages that can be returned.</summary>
/// <param name="First">The first page.</param>
/// <param name="Pages">The number of pages.</param>
/// <param name="NewPages">The number of pages that were not returned before.</param>
internal readonly record struct PageRange(long First, long Pages, long NewPages);
