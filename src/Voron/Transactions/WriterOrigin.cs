using System.Diagnostics;

namespace Voron.Transactions;

/// <summary>The origin of a write transaction.</summary>
/// <param name="OpenedAt">The place where it was begun; null when transactions are not tracked.</param>
/// <param name="BeganTick">The value of <see cref="Environment.TickCount64"/> when it was begun.</param>
/// <param name="ThreadId">The managed thread that began it.</param>
internal readonly record struct WriterOrigin(StackTrace? OpenedAt, long BeganTick, int ThreadId);
