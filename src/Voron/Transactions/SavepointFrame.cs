using Voron.Format;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>An open savepoint, and what the transaction had when it began.</summary>
/// <param name="Id">The number by which its handle knows it.</param>
/// <param name="IsNested">True for a nested transaction, whose changes are kept only if it is released explicitly.</param>
/// <param name="Stamp">Its stamp among the versions: see <see cref="CopyOnWritePages"/>.</param>
/// <param name="FirstSavedTree">The index of its first entry in the <see cref="TreeLog"/>.</param>
/// <param name="Trees">The number of open trees.</param>
/// <param name="Catalog">The tree of trees.</param>
/// <param name="States">The objects attached to the transaction's state; null for none.</param>
internal readonly record struct SavepointFrame(
    long Id, bool IsNested, int Stamp, int FirstSavedTree, int Trees, TreeHeader Catalog, CommitStates? States);
