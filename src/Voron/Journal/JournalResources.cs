using Voron.IO;

namespace Voron.Journal;

/// <summary>The memory and the thread of a journal.</summary>
/// <param name="Memory">The memory for records on their way to the journal.</param>
/// <param name="ThreadIdleTime">The time without work after which the journal thread ends; the next work starts another one.</param>
/// <param name="LazyInterval">The longest time for which a record waits that is published before it is durable.</param>
/// <param name="OverlapsSyncs">True to sync the data file during a journal write, on another thread, rather than after it.</param>
internal readonly record struct JournalResources(BlockMemory Memory, TimeSpan ThreadIdleTime, TimeSpan LazyInterval, bool OverlapsSyncs);
