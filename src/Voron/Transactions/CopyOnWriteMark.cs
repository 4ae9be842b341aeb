using Voron.Format;

namespace Voron.Transactions;

/// <summary>The place where a savepoint began.</summary>
internal readonly record struct CopyOnWriteMark(int DirectExtents, int Stamp, EnvironmentState State, long ChangedBytes);
