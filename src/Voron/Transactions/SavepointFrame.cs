using Voron.Format;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>An open savepoint, and the state of the transaction when it began.</summary>
/// <param name="Id">The number that identifies it to its handle.</param>
/// <param name="IsNested">True for a nested transaction, whose changes are kept only if it is released explicitly.</param>
/// <param name="Stamp">Its stamp among the versions: see <see cref="CopyOnWritePages"/>.</param>
/// <param name="FirstSavedTree">The index of its first entry in the <see cref="TreeLog"/>.</param>
/// <param name="Trees">The number of open trees.</param>
/// <param name="Catalog">The catalog tree.</param>
/// <param name="States">The objects attached to the transaction's state; null for none.</param>
internal readonly record struct SavepointFrame(
    long Id, bool IsNested, int Stamp, int FirstSavedTree, int Trees, TreeHeader Catalog, CommitStates? States);
